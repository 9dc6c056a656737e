/** Logs browsers in and out. The key or link is exchanged for a session, whose token only the cookie contains. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Api, ApiDeps } from '#api/deps.ts';
import { callerOfKey, requireScope, type RouteAuthenticator } from '#api/server/auth.ts';
import { Failure } from '#domain/errors.ts';
import type { ApiKeyRow } from '#store/api-key-store.ts';
import type { BrowserSession } from '../sessions.ts';
import { linkProblem, takeLink } from '../store.ts';
import { hashToken } from '../tokens.ts';

const loginSchema = z.union([
  z.strictObject({ key: z.string().max(256) }),
  z.strictObject({ link: z.string().max(256) }),
]);
const loginsSchema = z.object({ logins: z.array(z.object({ name: z.string(), path: z.string() })) });
const answerSchema = z.object({ csrf_token: z.string(), expires_at: z.string() });

export function addRoutes(
  app: Api,
  { pool, webConsole, browserLogins = [], browserLogout }: ApiDeps,
  authenticator: RouteAuthenticator,
): void {
  if (!webConsole) return;
  const { sessions } = webConsole;
  const schema = { hide: true, response: { 200: answerSchema } };
  const config = { scope: 'public' as const };

  app.post('/console/login', { config, schema: { ...schema, body: loginSchema } }, async (request, reply) => {
    const key =
      'key' in request.body
        ? await authenticator.findKey(request, request.body.key)
        : await keyOfLink(hashToken(request.body.link)).catch((error: unknown) =>
            authenticator.refuse(request, error),
          );
    requireScope(callerOfKey(key), 'read');
    return answer(reply, await sessions.begin(request, key));
  });

  app.post('/console/session', { config, schema }, async (request, reply) =>
    answer(reply, await sessions.resume(request)),
  );

  app.get(
    '/console/logins',
    { config, schema: { hide: true, response: { 200: loginsSchema } } },
    async () => ({
      logins: [...browserLogins],
    }),
  );

  // Authentication also checks the token against requests of other sites.
  app.post('/console/logout', { schema: { hide: true } }, async (request, reply) => {
    const { cookie, key } = await sessions.end(request);
    reply.header('set-cookie', cookie);
    const elsewhere = key && (await logOutElsewhere(request, key));
    for (const one of elsewhere?.cookies ?? []) reply.header('set-cookie', one);
    if (elsewhere?.location === undefined) return reply.code(204).send();
    return reply.send({ location: elsewhere.location });
  });

  /** The session has ended already, whatever happens elsewhere. */
  async function logOutElsewhere(request: FastifyRequest, key: ApiKeyRow) {
    try {
      return await browserLogout?.(request, key);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      request.log.warn({ key: key.id, err: error }, 'a browser was not logged out elsewhere');
      return undefined;
    }
  }

  async function keyOfLink(hash: Buffer) {
    const key = await takeLink(pool, hash);
    if (key) return key;
    const problem = await linkProblem(pool, hash);
    if (problem === 'used')
      throw new Failure('Unauthorized', 'This link was used before. If that was not you, revoke its key.');
    if (problem === 'over') throw new Failure('Unauthorized', 'This link has ended; make another one');
    throw new Failure('Unauthorized', 'There is no such link');
  }
}

function answer(reply: FastifyReply, { csrf_token, expires_at, cookie }: BrowserSession) {
  if (cookie !== undefined) reply.header('set-cookie', cookie);
  return { csrf_token, expires_at: expires_at.toISOString() };
}
