/** Logs browsers in and out. The key or link is exchanged for a session, whose token only the cookie contains. */
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import type { Api, ApiDeps } from '#api/deps.ts';
import { callerOfKey, requireScope, type RouteAuthenticator } from '#api/server/auth.ts';
import { Failure } from '#domain/errors.ts';
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
  { pool, webConsole, browserLogins = [] }: ApiDeps,
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
  app.post('/console/logout', { schema: { hide: true } }, async (request, reply) =>
    reply
      .code(204)
      .header('set-cookie', await sessions.end(request))
      .send(),
  );

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
