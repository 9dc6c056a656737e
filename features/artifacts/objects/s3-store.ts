/** Objects in a bucket, over the S3 protocol. A temporary refusal is retried, up to four attempts in all. */
import { setTimeout as sleep } from 'node:timers/promises';
import { S3mini, S3ServiceError } from 's3mini';
import { Failure } from '#domain/errors.ts';
import { noObject, type ObjectStore } from './object-store.ts';

export interface S3Settings {
  /** Address of the service, such as https://s3.eu-central-1.amazonaws.com. */
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  /** Prefix of every key; '' for none. */
  readonly prefix: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

const ATTEMPTS = 4;
const FIRST_WAIT_MS = 100;
/** Greatest number of keys in one list and in one deletion (S3 API). */
const PAGE = 1_000;
const TOO_MANY = 429;

/**
 * `settings` are read when the store is first used, because keys may be secrets of the vault. `fetch` is that of the
 * egress.
 */
export function createS3Store(
  settings: () => Promise<S3Settings>,
  fetch: typeof globalThis.fetch,
): ObjectStore {
  let opened: { readonly s3: S3mini; readonly prefix: string } | undefined;
  const ask = async <Result>(work: (s3: S3mini, prefix: string) => Promise<Result>): Promise<Result> => {
    if (!opened) {
      const { endpoint, bucket, prefix, ...keys } = await settings();
      const s3 = new S3mini({ ...keys, endpoint: `${endpoint}/${bucket}`, fetch });
      opened = { s3, prefix: prefix === '' ? '' : `${prefix}/` };
    }
    const { s3, prefix } = opened;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await work(s3, prefix);
      } catch (error) {
        if (error instanceof Failure) throw error;
        if (attempt === ATTEMPTS || !mayPass(error)) throw unavailable(error, s3);
        await sleep(FIRST_WAIT_MS * 4 ** (attempt - 1));
      }
    }
  };

  return {
    put: (key, bytes) =>
      ask(async (s3, prefix) => {
        const answer = await s3.putObject(prefix + key, bytes);
        await answer.body?.cancel();
      }),

    get: (key) =>
      ask(async (s3, prefix) => {
        const bytes = await s3.getObjectArrayBuffer(prefix + key);
        if (bytes === null) throw noObject(key);
        return Buffer.from(bytes);
      }),

    async *list(requested) {
      let token: string | undefined;
      do {
        const page = await ask((s3, prefix) => s3.listObjectsPaged('/', prefix + requested, PAGE, token));
        for (const { Key } of page?.objects ?? []) yield Key.slice(opened?.prefix.length);
        token = page?.nextContinuationToken;
      } while (token);
    },

    remove: (keys) =>
      ask(async (s3, prefix) => {
        const removed = await s3.deleteObjects(keys.map((key) => prefix + key));
        if (removed.includes(false)) throw new Error('not all objects could be deleted');
      }),
  };
}

/** Errors of the network and of the service may pass; a refusal of the request does not. */
function mayPass(error: unknown): boolean {
  return !(error instanceof S3ServiceError) || error.status > 499 || error.status === TOO_MANY;
}

/** Also for faults that an operator must repair: a call that may run again waits for that. */
function unavailable(error: unknown, { endpoint }: S3mini): Failure {
  const why =
    error instanceof S3ServiceError
      ? `answered ${error.status}${error.serviceCode ? ` ${error.serviceCode}` : ''}`
      : `does not answer: ${error instanceof Error ? error.message : String(error)}`;
  return new Failure('Unavailable', `the object store at ${endpoint.host} ${why}`);
}
