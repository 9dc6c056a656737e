/** The header with which a client names its session. */
import type { FastifyRequest } from 'fastify';
import { Failure } from '#domain/errors.ts';
import { isSessionKey } from '#domain/ids.ts';

export function namedSession({ headers }: FastifyRequest): string | undefined {
  const session = headers['x-tempoclaw-session'];
  if (session === undefined || session === '') return undefined;
  if (typeof session !== 'string' || !isSessionKey(session))
    throw new Failure('InvalidInput', 'X-Tempoclaw-Session is not the key of a session');
  return session;
}
