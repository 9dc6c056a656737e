/** Reads tokens of identity providers where requests carry a key. */
import type { ApiCore } from '#api/api-parts.ts';
import type { ApiPart } from '#domain/feature.ts';
import { checkToken, readToken, refused } from './check-token.ts';
import { keepPerson } from './persons.ts';
import { createProvider } from './provider.ts';

export function createApiPart({ config, pool, egress }: ApiCore): ApiPart {
  const issuers = config.oidc.issuers.map((settings) => ({
    settings,
    provider: createProvider(egress, settings),
  }));
  if (issuers.length === 0) return {};
  return {
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
