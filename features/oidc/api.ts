/** Reads tokens of identity providers where requests carry a key, and offers logins with them. */
import type { ApiCore } from '#api/api-parts.ts';
import type { ApiPart } from '#domain/feature.ts';
import { checkToken, readToken, refused } from './check-token.ts';
import { type BrowserCookie, createBrowserCookie } from './browser-cookie.ts';
import type { LoginIssuer } from './login.ts';
import { logoutPage } from './logout.ts';
import { keepPerson } from './persons.ts';
import { createProvider } from './provider.ts';

declare module '#api/deps.ts' {
  interface FeatureDeps {
    /** Identity providers at which people log in to the console. */
    readonly oidcLogins?: readonly LoginIssuer[];
    /** What a browser keeps of its login there, until it logs out. */
    readonly idTokenCookie?: BrowserCookie;
  }
}

export function createApiPart({ config, pool, egress, secrets }: ApiCore): ApiPart {
  const issuers = config.oidc.issuers.map((settings) => ({
    settings,
    provider: createProvider(egress, settings),
  }));
  if (issuers.length === 0) return {};
  const logins = issuers.flatMap(({ settings, provider }) =>
    settings.client ? [{ settings, provider, client: settings.client }] : [],
  );
  const browserLogins = logins.map(({ settings: { name } }) => ({ name, path: `console/oidc/${name}` }));
  const { publicUrl } = config.api;
  const cookie = createIdTokenCookie(publicUrl);
  return {
    deps: {
      oidcLogins: logins,
      browserLogins,
      idTokenCookie: cookie,
      async browserLogout(request, key) {
        const base = publicUrl?.replace(/\/+$/, '') ?? `${request.protocol}://${request.host}`;
        const ended = { key, kept: cookie.read(request), redirect: `${base}/` };
        const location = await logoutPage(logins, secrets.sealer, ended);
        return { location, cookies: [cookie.write()] };
      },
    },
    async readBearer(text) {
      const token = readToken(text);
      if (!token) return undefined;
      const found = issuers.find(({ settings }) => settings.issuer === token.issuer);
      if (!found) throw refused('its issuer is not one of the settings (iss)');
      const { settings, provider } = found;
      const claims = await checkToken(token, provider.findKey, settings);
      const key = await keepPerson(pool, settings, claims);
      const until = claims.exp * 1000;
      return { id: `${key.id}/${claims.exp}`, key, until, isValid: async () => Date.now() < until };
    },
  };
}

/** Without the token, the provider asks whom it is to log out. */
const KEPT_SECONDS = 30 * 86_400;

/** It is sent to the pages that log in and out, and to no others. */
function createIdTokenCookie(publicUrl: string | undefined): BrowserCookie {
  const prefix = publicUrl === undefined ? '' : new URL(publicUrl).pathname.replace(/\/+$/, '');
  return createBrowserCookie({
    name: 'tempoclaw-oidc',
    isTls: publicUrl?.startsWith('https:') ?? false,
    path: `${prefix}/console`,
    sameSite: 'Strict',
    seconds: KEPT_SECONDS,
  });
}
