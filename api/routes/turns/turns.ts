/** Serves turns: what became of a message, and the ledger of its tool calls. */
import { z } from 'zod';
import { findCallImage } from '#store/files/file-store.ts';
import { findWholeResult, listToolCalls, type ToolCallRow } from '#store/turns/tool-call-store.ts';
import { listSteps } from '#store/turns/step-store.ts';
import type { TurnRow } from '#store/turns/turn-store.ts';
import { Failure } from '#domain/errors.ts';
import { changedFiles } from '#domain/files/changed-files.ts';
import { isMessageId, sessionWorkflowId } from '#domain/ids.ts';
import { MAX_IMAGES } from '#domain/model/image.ts';
import { turns } from '#domain/resource/turns.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { callerOf } from '../../server/auth.ts';
import type { Api, ApiDeps } from '../../deps.ts';
import { reachableSession, reachableTurn } from '../../found.ts';
import { problems } from '../../server/openapi.ts';
import { isNumberKeys, readPage } from '../../server/pages.ts';
import { serveResource } from '../../serve-resource.ts';
import { compareTurns, readStep, withCalls } from '../../turn-steps.ts';
import { createTemporalLink, type TemporalLink } from '../../temporal-links.ts';

export function addRoutes(app: Api, deps: ApiDeps): void {
  const { pool } = deps;
  const link = createTemporalLink(deps.settings);

  serveResource(
    app,
    turns,
    {
      async getTurn({ caller, tenant, params }) {
        const row = await reachableTurn(pool, caller, params.id);
        return row && showTurn(tenant, row, link);
      },
      listTurnToolCalls: ({ db, params, query }) =>
        readPage(
          query,
          (limit, after) =>
            listToolCalls(db, params.id, limit, [Number(after?.[0] ?? -1), Number(after?.[1] ?? -1)]),
          (row) => [row.step, row.index],
          isNumberKeys(2),
          showToolCall,
        ),
      async listTurnSteps({ caller, db, params, query }) {
        const turn = await reachableTurn(pool, caller, params.id);
        const page = await readPage(
          query,
          (limit, after) =>
            listSteps(db, params.id, limit, Math.max(Number(after?.[0] ?? 0), query.after_step ?? 0)),
          (row) => [row.step],
          isNumberKeys(1),
        );
        return { ...page, data: turn ? await withCalls(db, turn, page.data, caller.confinedTo) : [] };
      },
      async getTurnStep({ caller, db, params }) {
        const turn = await reachableTurn(pool, caller, params.id);
        const step = turn && (await readStep(db, turn, params.step, caller.confinedTo, showToolCall));
        if (turn && !step)
          throw new Failure('NotFound', `Turn ${turn.id} has no step ${params.step} that is answered`);
        return step;
      },
      async compareTurns({ caller, tenant, db, params }) {
        const [turn, other] = [
          await reachableTurn(pool, caller, params.id),
          isMessageId(params.other) ? await reachableTurn(pool, caller, params.other) : undefined,
        ];
        if (!turn || !other) return undefined;
        return {
          turn: showTurn(tenant, turn, link),
          other: showTurn(tenant, other, link),
          first: await compareTurns(db, turn.id, other.id),
        };
      },
    },
    (caller, id) => reachableTurn(pool, caller, id),
  );
  addCallRoutes(app, deps);
}

/** What a call gave, as it is. */
function addCallRoutes(app: Api, { pool }: ApiDeps): void {
  app.get(
    '/v1/tool-calls/:id/result',
    {
      config: { scope: 'read' },
      schema: {
        tags: ['turns'],
        operationId: 'getToolCallResult',
        summary: 'Get the whole output of a tool call as text',
        params: z.object({ id: z.string() }),
        response: {
          200: { description: 'The output', content: { 'text/plain': { schema: z.string() } } },
          ...problems('NotFound', 'Conflict'),
        },
      },
    },
    async (request, reply) => {
      const { id } = request.params;
      const caller = callerOf(request);
      const found = isMessageId(id) ? await findWholeResult(forTenant(pool, caller.tenant), id) : undefined;
      if (!found || !(await reachableSession(pool, caller, found.session_key)))
        throw new Failure('NotFound', 'There is no tool call with this id');
      if (found.text === null) throw new Failure('Conflict', 'The call has not ended; it has no result yet');
      reply.serializer((payload) => String(payload));
      return reply.type('text/plain; charset=utf-8').send(found.text);
    },
  );

  app.get(
    '/v1/tool-calls/:id/images/:number',
    {
      config: { scope: 'read' },
      schema: {
        tags: ['turns'],
        operationId: 'getToolCallImage',
        summary: 'Get an image that a tool call gave, counted from 1',
        params: z.object({ id: z.string(), number: z.coerce.number().int().min(1).max(MAX_IMAGES) }),
        response: {
          200: {
            description: 'Its bytes; PNG, JPEG, GIF or WebP',
            content: { 'image/*': { schema: z.any() } },
          },
          ...problems('NotFound'),
        },
      },
    },
    async (request, reply) => {
      const { id, number } = request.params;
      const caller = callerOf(request);
      const found = isMessageId(id)
        ? await findCallImage(forTenant(pool, caller.tenant), id, number)
        : undefined;
      if (!found || !(await reachableSession(pool, caller, found.session_key)))
        throw new Failure('NotFound', 'There is no such image of a tool call');
      // The type was detected from its bytes when it was stored, and no other type is used.
      return reply
        .headers({
          'x-content-type-options': 'nosniff',
          'content-security-policy': "default-src 'none'; sandbox",
        })
        .type(found.type)
        .send(found.bytes);
    },
  );
}

export function showTurn(tenant: string, row: TurnRow, link: TemporalLink) {
  const workflowId = sessionWorkflowId(tenant, row.session_key);
  return {
    ...row,
    agent: row.agent_key,
    usage: row,
    workflow_id: workflowId,
    links: { temporal: link(workflowId, row.run_id) },
  };
}

function showToolCall(row: ToolCallRow) {
  return {
    ...row,
    text: row.result,
    images: (row.images ?? []).map((image, at) => ({
      ...image,
      url: `/v1/tool-calls/${row.id}/images/${at + 1}`,
    })),
    whole: row.whole_id !== null,
    changed_files: changedFiles(row),
  };
}
