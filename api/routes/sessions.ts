/** Sessions: which there are and what they are doing. */
import { z } from 'zod';
import { listSessions, type SessionRow } from '#store/session-store.ts';
import { listTurns } from '#store/turn-store.ts';
import { sessionWorkflowId } from '#domain/ids.ts';
import { labelSchema, nameSchema, pageQuery, pageSchema } from '#domain/schema/scalars.ts';
import { sessionSchema } from '#domain/schema/session.ts';
import { turnSchema } from '#domain/schema/turn.ts';
import { callerOf } from '../auth.ts';
import type { Api, ApiDeps } from '../deps.ts';
import { sessionOr404 } from '../found.ts';
import { problems } from '../openapi.ts';
import { isTimeKeys, readPage } from '../pages.ts';
import { createTemporalLink, type TemporalLink } from '../temporal-links.ts';
import { sessionParams } from './messages.ts';
import { showTurn } from './turns.ts';

export function addSessionRoutes(app: Api, deps: ApiDeps): void {
  const link = createTemporalLink(deps.settings);

  app.get(
    '/v1/sessions',
    {
      config: { scope: 'read' },
      schema: {
        tags: ['sessions'],
        operationId: 'listSessions',
        summary: 'List sessions, newest change first',
        querystring: z.strictObject({
          ...pageQuery,
          agent: nameSchema.optional(),
          user: labelSchema.optional(),
          channel: labelSchema.optional(),
        }),
        response: { 200: pageSchema(sessionSchema), ...problems() },
      },
    },
    async (request) => {
      const { tenant, confinedTo } = callerOf(request);
      const { agent, user, channel } = request.query;
      return readPage(
        request.query,
        (limit, after) =>
          listSessions(
            deps.pool,
            tenant,
            { agent, user, channel, confinedTo },
            limit,
            after && isTimeKeys(after) ? after : undefined,
          ),
        (row) => [row.updated_text, row.key],
        (row) => showSession(tenant, row, link),
        isTimeKeys,
      );
    },
  );

  app.get(
    '/v1/sessions/:key',
    {
      config: { scope: 'read' },
      preValidation: async (request) => void (await sessionOr404(deps.pool, request)),
      schema: {
        tags: ['sessions'],
        operationId: 'getSession',
        summary: 'Get a session',
        params: sessionParams,
        response: { 200: sessionSchema, ...problems('NotFound') },
      },
    },
    async (request) => showSession(callerOf(request).tenant, await sessionOr404(deps.pool, request), link),
  );

  app.get(
    '/v1/sessions/:key/turns',
    {
      config: { scope: 'read' },
      preValidation: async (request) => void (await sessionOr404(deps.pool, request)),
      schema: {
        tags: ['sessions'],
        operationId: 'listSessionTurns',
        summary: 'List a session’s turns, newest first',
        params: sessionParams,
        querystring: z.strictObject(pageQuery),
        response: { 200: pageSchema(turnSchema), ...problems('NotFound') },
      },
    },
    async (request) => {
      const { tenant } = callerOf(request);
      return readPage(
        request.query,
        (limit, after) =>
          listTurns(
            deps.pool,
            tenant,
            request.params.key,
            limit,
            after && isTimeKeys(after) ? after : undefined,
          ),
        (row) => [row.created_text, row.id],
        (row) => showTurn(tenant, row, link),
        isTimeKeys,
      );
    },
  );
}

function showSession(tenant: string, row: SessionRow, link: TemporalLink): z.infer<typeof sessionSchema> {
  const workflowId = sessionWorkflowId(tenant, row.key);
  return {
    key: row.key,
    agent: row.agent_key,
    user: row.user_id,
    channel: row.channel,
    chat_id: row.chat_id,
    title: row.title,
    status: row.open_status ?? 'idle',
    turn_id: row.open_turn,
    turns: row.turns,
    last_event_id: Number(row.event_seq),
    workflow_id: workflowId,
    links: { temporal: link(workflowId, row.open_run) },
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}
