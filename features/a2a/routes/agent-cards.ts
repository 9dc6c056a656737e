/** Cards of agents for everybody, and the keys that sign them. */
import { AgentCard } from '@a2a-js/sdk';
import { z } from 'zod';
import type { Api, ApiDeps } from '#api/deps.ts';
import { nameSchema } from '#domain/schema/scalars.ts';
import { publicCard, sign } from '../agent-card.ts';
import { baseOf } from '../base-address.ts';
import { createCardKey } from '../card-key.ts';

const params = z.object({ agent: nameSchema });

export function addRoutes(app: Api, { settings, tokenSecret }: ApiDeps): void {
  app.get('/v1/a2a/jwks.json', { config: { scope: 'public' }, schema: { hide: true } }, async () => ({
    keys: [createCardKey(tokenSecret).publicJwk],
  }));

  app.get(
    '/v1/a2a/:agent/.well-known/agent-card.json',
    { config: { scope: 'public' }, schema: { hide: true, params } },
    async (request) => {
      const base = baseOf(settings, request);
      return AgentCard.toJSON(await sign(tokenSecret, base, publicCard(base, request.params.agent)));
    },
  );
}
