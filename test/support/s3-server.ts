/**
 * An S3 service of a test's own: one bucket in memory, path-style, with the AWS Signature Version 4 of every request
 * checked.
 */
import { createHash, createHmac } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface S3Server {
  readonly url: string;
  readonly keys: { readonly accessKeyId: string; readonly secretAccessKey: string };
  readonly objects: Map<string, Buffer>;
  /** Method and key of each accepted request. */
  readonly asked: string[];
  /** This many of the next requests get this status. */
  failNext(times: number, status: number): void;
  /** Called and awaited before a request is done. */
  onRequest:
    | ((method: string, key: string, body: Buffer, headers: IncomingHttpHeaders) => Promise<void> | void)
    | undefined;
  close(): Promise<void>;
}

export async function startS3Server(bucket = 'bucket', region = 'us-east-1'): Promise<S3Server> {
  const keys = { accessKeyId: 'AKIATEST', secretAccessKey: 'test-secret-of-the-bucket-0123456789' };
  const objects = new Map<string, Buffer>();
  const requests: string[] = [];
  let failing = { times: 0, status: 500 };
  const made: { onRequest: S3Server['onRequest'] } = { onRequest: undefined };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(request);
    const url = new URL(request.url ?? '/', `http://${request.headers.host}`);
    const method = request.method ?? '';
    const problem = signatureProblem(request, url, keys, region);
    if (problem) return refuse(response, 403, problem);
    const [, named, ...rest] = url.pathname.split('/');
    if (named !== bucket) return refuse(response, 404, 'NoSuchBucket');
    const key = rest.map(decodeURIComponent).join('/');
    const checksum = checksumProblem(request.headers, body);
    if (checksum) return refuse(response, 400, checksum);
    await made.onRequest?.(method, key, body, request.headers);
    if (failing.times > 0) {
      failing = { ...failing, times: failing.times - 1 };
      return refuse(response, failing.status, failing.status === 503 ? 'SlowDown' : 'InternalError');
    }
    requests.push(`${method} ${key}`);
    return perform(method, key, body, url, response);
  }

  function perform(method: string, key: string, body: Buffer, url: URL, response: ServerResponse): void {
    if (method === 'PUT') {
      objects.set(key, body);
      response.writeHead(200, { etag: `"${createHash('md5').update(body).digest('hex')}"` }).end();
    } else if (method === 'POST' && url.searchParams.has('delete')) {
      const gone = [...body.toString().matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, found = '']) => found);
      for (const one of gone) objects.delete(one);
      xml(
        response,
        200,
        `<DeleteResult>${gone.map((one) => `<Deleted><Key>${one}</Key></Deleted>`).join('')}</DeleteResult>`,
      );
    } else if (method === 'GET' && url.searchParams.get('list-type') === '2') list(url, objects, response);
    else if (method === 'GET') {
      const found = objects.get(key);
      if (found) response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(found);
      else refuse(response, 404, 'NoSuchKey');
    } else refuse(response, 405, 'MethodNotAllowed');
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return Object.assign(made, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    keys,
    objects,
    asked: requests,
    failNext(times: number, status: number) {
      failing = { times, status };
    },
    close() {
      server.closeAllConnections();
      return new Promise<void>((resolve) => server.close(() => resolve()));
    },
  });
}

/** An object lock needs a checksum, as a service has it. */
function checksumProblem(headers: IncomingHttpHeaders, body: Buffer): string | undefined {
  const given = headers['x-amz-checksum-sha256'];
  if (given === undefined) return headers['x-amz-object-lock-mode'] ? 'InvalidRequest' : undefined;
  return given === createHash('sha256').update(body).digest('base64') ? undefined : 'BadDigest';
}

/** A page has two objects at most, so that a few objects make several pages. */
function list(url: URL, objects: ReadonlyMap<string, Buffer>, response: ServerResponse): void {
  const prefix = url.searchParams.get('prefix') ?? '';
  const after = Buffer.from(url.searchParams.get('continuation-token') ?? '', 'hex').toString();
  const remaining = [...objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort();
  const page = remaining.slice(0, 2);
  const next = remaining.length > 2 ? Buffer.from(page.at(-1) ?? '').toString('hex') : undefined;
  const contents = page.map(
    (key) =>
      `<Contents><Key>${key}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified><ETag>&quot;x&quot;</ETag><Size>${objects.get(key)?.length}</Size><StorageClass>STANDARD</StorageClass></Contents>`,
  );
  const token = next === undefined ? '' : `<NextContinuationToken>${next}</NextContinuationToken>`;
  xml(
    response,
    200,
    `<ListBucketResult><IsTruncated>${next !== undefined}</IsTruncated><KeyCount>${page.length}</KeyCount>${token}${contents.join('')}</ListBucketResult>`,
  );
}

function xml(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'application/xml' });
  response.end(`<?xml version="1.0" encoding="UTF-8"?>${text}`);
}

function refuse(response: ServerResponse, status: number, code: string): void {
  xml(response, status, `<Error><Code>${code}</Code><Message>${code}</Message></Error>`);
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces);
}

/** https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html */
function signatureProblem(
  request: IncomingMessage,
  url: URL,
  keys: S3Server['keys'],
  region: string,
): string | undefined {
  const form =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/;
  const [, id, day = '', signedRegion, names = '', signature] =
    form.exec(request.headers.authorization ?? '') ?? [];
  if (signature === undefined) return 'AccessDenied';
  if (id !== keys.accessKeyId) return 'InvalidAccessKeyId';
  if (signedRegion !== region) return 'AuthorizationHeaderMalformed';
  if (!names.split(';').includes('host')) return 'SignatureDoesNotMatch';
  const headers = names.split(';').map((name) => `${name}:${String(request.headers[name]).trim()}\n`);
  const query = [...url.searchParams]
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
    .sort();
  const canonical = [
    request.method,
    url.pathname,
    query.join('&'),
    headers.join(''),
    names,
    request.headers['x-amz-content-sha256'],
  ].join('\n');
  const scope = `${day}/${region}/s3/aws4_request`;
  const time = String(request.headers['x-amz-date']);
  const digest = createHash('sha256').update(canonical).digest('hex');
  let key: Buffer | string = `AWS4${keys.secretAccessKey}`;
  for (const part of [day, region, 's3', 'aws4_request', `AWS4-HMAC-SHA256\n${time}\n${scope}\n${digest}`])
    key = createHmac('sha256', key).update(part).digest();
  return (key as Buffer).toString('hex') === signature ? undefined : 'SignatureDoesNotMatch';
}
