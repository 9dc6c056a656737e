/** Bodies that are a file of any content type: they are accepted as they come, and read within a limit. */
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { FastifyRequest } from 'fastify';
import { Failure } from '#domain/errors.ts';
import type { Api } from '../deps.ts';

/** The routes of `routes` have such a body and no other. */
export function takeFileBodies(routes: Api): void {
  routes.removeAllContentTypeParsers();
  routes.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
}

/**
 * Does the same for bodies that are read whole before the route begins, so that an Idempotency-Key also covers their
 * bytes.
 */
export function readFileBodies(routes: Api, maxBytes: number): void {
  routes.removeAllContentTypeParsers();
  routes.addContentTypeParser('*', (_request: unknown, payload: Readable) =>
    buffer(bounded(payload, maxBytes)),
  );
}

export function fileBody({ body }: FastifyRequest, maxBytes: number): AsyncGenerator<Buffer> {
  return bounded((body as Readable | undefined) ?? [], maxBytes);
}

async function* bounded(
  body: Readable | Iterable<Buffer | string>,
  maxBytes: number,
): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const part of body) {
    const piece = Buffer.from(part);
    bytes += piece.length;
    if (bytes > maxBytes) throw fileTooLarge(maxBytes);
    yield piece;
  }
}

export function fileTooLarge(maxBytes: number): Failure {
  return new Failure('TooLarge', `A file may have at most ${maxBytes} bytes here`);
}
