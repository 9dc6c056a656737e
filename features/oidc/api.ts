/** Reads tokens of identity providers where requests carry a key, and offers logins with them. */
import type { ApiCore } from '#api/api-parts.ts';
import type { ApiPart } from '#domain/feature.ts';
import { checkToken, readToken, refused } from './check-token.ts';
import type { LoginIssuer } from './login.ts';
import { keepPerson } from './persons.ts';
import { createProvider } from './provider.ts';

declare module '#api/deps.ts' {
  interface FeatureDeps {
    /** Identity providers at which people log in to the console. */
    readonly oidcLogins?: readonly LoginIssuer[];
  }
}

export function createApiPart({ config, pool, egress }: ApiCore): ApiPart {
  const issuers = config.oidc.issuers.map((settings) => ({
    settings,
    provider: createProvider(egress, settings),
  }));
  if (issuers.length === 0) return {};
  const logins = issuers.flatMap(({ settings, provider }) =>
    settings.client ? [{ settings, provider, client: settings.client }] : [],
  );
  const browserLogins = logins.map(({ settings: { name } }) => ({ name, path: `console/oidc/${name}` }));
  return {
    deps: { oidcLogins: logins, browserLogins },
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
