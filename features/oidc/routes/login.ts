/** Pages that send a browser to an identity provider, and take it back as a session of the console. */
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import type { Api, ApiDeps } from '#api/deps.ts';
import { sendPage } from '#api/server/browser-pages.ts';
import { callerOfKey, requireScope, type RouteAuthenticator } from '#api/server/auth.ts';
import { noticePage, PAGE_POLICY } from '#api/server/html-page.ts';
import { FAILURES, Failure } from '#domain/errors.ts';
import { createBrowserCookie } from '../browser-cookie.ts';
import { beginLogin, finishLogin, LOGIN_SECONDS, type LoginIssuer } from '../login.ts';
import { sealIdToken } from '../logout.ts';
import { createRefresher } from '../refresh.ts';

const REFRESH_MS = 2_000;

const answerSchema = z.object({
  code: z.string().max(4_096).optional(),
  state: z.string().max(256).optional(),
  iss: z.string().max(256).optional(),
  error: z.string().max(256).optional(),
});

export function addRoutes(app: Api, deps: ApiDeps, authenticator: RouteAuthenticator): void {
  const { oidcLogins: issuers = [], webConsole, pool, settings, idTokenCookie } = deps;
  if (issuers.length === 0 || !webConsole) return;
  const { sessions } = webConsole;
  const { sealer } = deps.secrets;
  const refresher = createRefresher({
    pool,
    sealer,
    issuers,
    isOpen: sessions.isOpen,
    onError: ({ tenant_id: tenant, person_id: key }, error) =>
      app.log.info({ tenant, key, err: error }, 'a login at an identity provider was not continued'),
  });
  const timer = setInterval(
    () =>
      void refresher
        .refreshDue()
        .catch((error: unknown) => app.log.warn({ err: error }, 'logins were not continued')),
    REFRESH_MS,
  );
  app.addHook('onClose', async () => clearInterval(timer));

  const base = settings.publicUrl?.replace(/\/+$/, '');
  const cookie = createBrowserCookie({
    name: 'tempoclaw-login',
    isTls: base?.startsWith('https:') ?? false,
    path: '/',
    // The provider sends the browser back.
    sameSite: 'Lax',
    seconds: LOGIN_SECONDS,
  });
  const issuerOf = (name: string): LoginIssuer => {
    const found = issuers.find((one) => one.settings.name === name);
    if (!found) throw new Failure('NotFound', 'There is no identity provider of this name to log in with');
    return found;
  };
  const options = { config: { scope: 'public' as const }, schema: { hide: true } };

  app.get<{ Params: { name: string } }>('/console/oidc/:name', options, (request, reply) =>
    asPage(reply, async () => {
      const { name } = request.params;
      const redirect = `${base ?? `${request.protocol}://${request.host}`}/console/oidc/${name}/callback`;
      const { location, kept } = await beginLogin(issuerOf(name), sealer, redirect);
      return reply.header('set-cookie', cookie.write(kept)).redirect(location, 303);
    }),
  );

  app.get<{ Params: { name: string }; Querystring: z.output<typeof answerSchema> }>(
    '/console/oidc/:name/callback',
    { ...options, schema: { hide: true, querystring: answerSchema } },
    (request, reply) =>
      asPage(reply, async () => {
        // Whatever happens, the verifier is not used a second time.
        reply.header('set-cookie', cookie.write());
        const issuer = issuerOf(request.params.name);
        const person = await finishLogin(issuer, { sealer, pool }, request.query, cookie.read(request)).catch(
          (error: unknown) => authenticator.refuse(request, error),
        );
        requireScope(callerOfKey(person.key), 'read');
        const session = await sessions.begin(request, person.key);
        await refresher.keep(issuer, person);
        if (session.cookie !== undefined) reply.header('set-cookie', session.cookie);
        const kept =
          issuer.client.logout === 'provider'
            ? sealIdToken(sealer, person.key.id, person.idToken)
            : undefined;
        if (kept !== undefined) reply.header('set-cookie', idTokenCookie?.write(kept));
        return reply.redirect(`${base ?? ''}/`, 303);
      }),
  );
}

/** People read the answer in a browser, also when the login failed. */
async function asPage(reply: FastifyReply, answer: () => Promise<FastifyReply>): Promise<FastifyReply> {
  try {
    return await answer();
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const html = noticePage('You are not logged in', error.message);
    return sendPage(reply.code(FAILURES[error.type].status), { html, policy: PAGE_POLICY });
  }
}
