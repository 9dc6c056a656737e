/**
 * Limits of the Temporal server that a request has met, as its sender learns of them. The server has no codes of its own
 * for them, so its words decide; the numbers are its defaults (docs/operations.md).
 */
import { Failure, type FailureType } from '#domain/errors.ts';
import { GRPC, grpcCode, grpcDetails } from './grpc-error.ts';

const TOO_LARGE = 'This is more than Temporal takes in one message (2 MB by default)';

const NEXT_RUN = 'its next run takes this again, when the step that it waits for is over';

/** The run takes no more signals. It still takes updates, and can be cancelled. */
export class TooManySignals extends Failure {
  constructor() {
    super('Unavailable', `Temporal takes no more signals for this run (10,000 by default); ${NEXT_RUN}`);
  }
}

interface ServerLimit {
  readonly code: number;
  readonly words: RegExp;
  readonly failure: FailureType;
  readonly message: string;
}

const LIMITS: readonly ServerLimit[] = [
  {
    code: GRPC.FAILED_PRECONDITION,
    words: /total number of distinct updates/,
    failure: 'QueueFull',
    message: `Temporal takes no more updates for this run (2,000 by default); ${NEXT_RUN}`,
  },
  {
    code: GRPC.RESOURCE_EXHAUSTED,
    words: /concurrent in-flight updates/,
    failure: 'RateLimited',
    message: 'Temporal holds as many updates for this run as it takes at once (10 by default); try again',
  },
  {
    code: GRPC.INVALID_ARGUMENT,
    words: /blob data size exceeds limit/i,
    failure: 'TooLarge',
    message: TOO_LARGE,
  },
  {
    code: GRPC.INVALID_ARGUMENT,
    words: /length exceeds limit/,
    failure: 'InvalidInput',
    message: 'An id in this is longer than Temporal takes (1,000 bytes by default)',
  },
];

const SIGNALS = /execution limit for signal events/;

/** Undefined when the error is no such limit. */
export function limitMet(error: unknown): Failure | undefined {
  const [code, words] = [grpcCode(error), grpcDetails(error)];
  if (code === GRPC.INVALID_ARGUMENT && SIGNALS.test(words)) return new TooManySignals();
  const met = LIMITS.find((limit) => limit.code === code && limit.words.test(words));
  return met && new Failure(met.failure, met.message);
}

/** Bytes of JSON: a little less than Temporal takes in one payload. */
const MAX_PAYLOAD = 2_000_000;

/**
 * Temporal itself takes an update of up to 4 MB, and the run then fails its tasks for as long as the sender waits, because
 * no answer can contain what it answers.
 * @throws Failure
 */
export function refuseLarge(input: unknown): void {
  const json = JSON.stringify(input) as string | undefined;
  if (Buffer.byteLength(json ?? '') > MAX_PAYLOAD) throw new Failure('TooLarge', TOO_LARGE);
}
