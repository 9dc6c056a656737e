/** Bodies that are a file, of whatever content type: taken as they come, and read within a bound. */
import type { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { Failure } from '#domain/errors.ts';
import type { Api } from './deps.ts';

/** The routes of `routes` have such a body, and no other. */
export function takeFileBodies(routes: Api): void {
  routes.removeAllContentTypeParsers();
  routes.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
}

export async function* fileBody({ body }: FastifyRequest, mostBytes: number): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const part of (body as Readable | undefined) ?? []) {
    const piece = Buffer.from(part);
    bytes += piece.length;
    if (bytes > mostBytes) throw fileTooLarge(mostBytes);
    yield piece;
  }
}

export function fileTooLarge(mostBytes: number): Failure {
  return new Failure('TooLarge', `A file may have at most ${mostBytes} bytes here`);
}
