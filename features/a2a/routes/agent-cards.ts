/** Cards of agents for everybody, and the keys that sign them. */
import { createHash } from 'node:crypto';
import { AgentCard } from '@a2a-js/sdk';
import { z } from 'zod';
import type { Api, ApiDeps } from '#api/deps.ts';
import { nameSchema } from '#domain/schema/scalars.ts';
import { publicCard, sign } from '../agent-card.ts';
import { baseOf } from '../base-address.ts';
import { createCardKey } from '../card-key.ts';

/** For how long clients may keep a card: it changes with a release or the address alone. */
const CARD_SECONDS = 300;

const params = z.object({ agent: nameSchema });

export function addRoutes(app: Api, { settings, tokenSecret }: ApiDeps): void {
  app.get('/v1/a2a/jwks.json', { config: { scope: 'public' }, schema: { hide: true } }, async () => ({
    keys: [createCardKey(tokenSecret).publicJwk],
  }));

  app.get(
    '/v1/a2a/:agent/.well-known/agent-card.json',
    { config: { scope: 'public' }, schema: { hide: true, params } },
    async (request, reply) => {
      const base = baseOf(settings, request);
      const signed = await sign(tokenSecret, base, publicCard(base, request.params.agent));
      const card = JSON.stringify(AgentCard.toJSON(signed));
      const etag = `"${createHash('sha256').update(card).digest('base64url')}"`;
      void reply.headers({ etag, 'cache-control': `public, max-age=${CARD_SECONDS}` });
      const known = request.headers['if-none-match'] ?? '';
      if (known.split(',').some((one) => one.trim().replace(/^W\//, '') === etag))
        return reply.code(304).send();
      return reply.type('application/json; charset=utf-8').send(card);
    },
  );
}
