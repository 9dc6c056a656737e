/** Streams what changes in a tenant over SSE, for pages that show more than one session. */
import { z } from 'zod';
import { changeSchema } from '#domain/schema/change.ts';
import { keysInForce } from '#store/api-key-store.ts';
import { changeSource } from '../change-source.ts';
import type { Api, ApiDeps } from '../deps.ts';
import { callerOf } from '../server/auth.ts';
import { problems } from '../server/openapi.ts';
import { createSseReplies } from '../server/sse-replies.ts';

export function addRoutes(app: Api, deps: ApiDeps): void {
  const replies = createSseReplies(app, deps);
  app.get(
    '/v1/changes',
    {
      config: { scope: 'read' },
      schema: {
        tags: ['sessions'],
        operationId: 'followChanges',
        summary: 'Follow what changes (SSE)',
        description:
          'Names the sessions with new events and the teams with other tasks, at most four times a second. Nothing is replayed: whoever connects again reads anew what it shows. A comment comes at least every 15 seconds.',
        querystring: z.strictObject({}),
        response: {
          200: { description: 'Changes', content: { 'text/event-stream': { schema: changeSchema } } },
          ...problems(),
        },
      },
    },
    async (request, reply) => {
      const caller = callerOf(request);
      // Nothing else would say that Postgres is away: the stream would open, and stay silent.
      await keysInForce(deps.pool, [{ tenant: caller.tenant, id: caller.keyId }]);
      return replies.open(request, reply, changeSource(deps, caller));
    },
  );
}
