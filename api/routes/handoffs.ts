/** Conversations that agents have handed to others: where they go, and bringing them back (DE-5). */
import { z } from 'zod';
import { clearHandoff, type HandoffRouteRow, listHandoffs } from '#store/handoff-store.ts';
import { Failure } from '#domain/errors.ts';
import { handoffRouteSchema } from '#domain/schema/handoff.ts';
import { labelSchema, pageQuery, pageSchema } from '#domain/schema/scalars.ts';
import { callerOf } from '../auth.ts';
import type { Api, ApiDeps } from '../deps.ts';
import { problems } from '../openapi.ts';
import { type CursorKeys, readPage } from '../pages.ts';

export function addHandoffRoutes(app: Api, deps: ApiDeps): void {
  app.get(
    '/v1/handoffs',
    {
      config: { scope: 'read' },
      schema: {
        tags: ['delegations'],
        operationId: 'listHandoffs',
        summary: 'List the chats that were handed to another agent',
        querystring: z.strictObject(pageQuery),
        response: { 200: pageSchema(handoffRouteSchema), ...problems() },
      },
    },
    async (request) =>
      readPage(
        request.query,
        (limit, after) =>
          listHandoffs(
            deps.pool,
            callerOf(request).tenant,
            callerOf(request).confinedTo,
            limit,
            after && isChatKeys(after) ? after : ['', ''],
          ),
        (row) => [row.channel, row.chat_id],
        showRoute,
        isChatKeys,
      ),
  );

  app.delete(
    '/v1/handoffs',
    {
      config: { scope: 'run' },
      schema: {
        tags: ['delegations'],
        operationId: 'endHandoff',
        summary: 'Bring a chat back to the agent that it had first',
        querystring: z.strictObject({ channel: labelSchema, chat_id: labelSchema }),
        response: { 204: z.null(), ...problems('NotFound') },
      },
    },
    async (request, reply) => {
      const { channel, chat_id } = request.query;
      const { tenant, confinedTo } = callerOf(request);
      if (!(await clearHandoff(deps.pool, tenant, channel, chat_id, confinedTo)))
        throw new Failure('NotFound', 'This chat was not handed to another agent');
      return reply.code(204).send(null);
    },
  );
}

function isChatKeys(keys: CursorKeys): keys is readonly [string, string] {
  return keys.length === 2 && keys.every((key) => typeof key === 'string');
}

function showRoute(row: HandoffRouteRow): z.infer<typeof handoffRouteSchema> {
  const { path: _, created_by: __, ...shown } = row;
  return { ...shown, created_at: row.created_at.toISOString() };
}
