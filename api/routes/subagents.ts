/** Subagents: which a session has started, how each went, and ending or steering one that runs. */
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { stopSubagent } from '#temporal/stop-subagents.ts';
import { createSubagentStore, type SubagentRow } from '#store/subagent-store.ts';
import { Failure } from '#domain/errors.ts';
import { subagentWorkflowId } from '#domain/ids.ts';
import { pageQuery, pageSchema } from '#domain/schema/scalars.ts';
import {
  subagentSchema,
  subagentSteerReceiptSchema,
  subagentSteerSchema,
  subagentStopReceiptSchema,
  subagentStopSchema,
} from '#domain/schema/subagent.ts';
import {
  type SteerSubagentInput,
  type SteerSubagentReceipt,
  SUBAGENT,
  SUBAGENT_STATUSES,
} from '#domain/subagent.ts';
import { callerOf, signatureOf } from '../auth.ts';
import type { Api, ApiDeps } from '../deps.ts';
import { sessionOr404, subagentOr404 } from '../found.ts';
import { stemOf } from '../idempotency.ts';
import { lostWorkOf, subagentsToStop } from '../lost-work.ts';
import { problems } from '../openapi.ts';
import { isTimeKeys, readPage } from '../pages.ts';
import { createTemporalLink, type TemporalLink } from '../temporal-links.ts';
import { sessionParams } from './messages.ts';

const idParams = z.object({ id: z.string() });

export function addSubagentRoutes(app: Api, deps: ApiDeps): void {
  addReads(app, deps);
  addActions(app, deps);
}

function addReads(app: Api, deps: ApiDeps): void {
  const link = createTemporalLink(deps.settings);
  const lost = lostWorkOf(deps).subagents;
  const store = createSubagentStore(deps.pool, deps.notifier.poke);

  app.get(
    '/v1/sessions/:key/subagents',
    {
      config: { scope: 'read' },
      preValidation: async (request) => void (await sessionOr404(deps.pool, request)),
      schema: {
        tags: ['subagents'],
        operationId: 'listSubagents',
        summary: 'List the subagents that a session has started, newest first',
        params: sessionParams,
        querystring: z.strictObject({ ...pageQuery, status: z.enum(SUBAGENT_STATUSES).optional() }),
        response: { 200: pageSchema(subagentSchema), ...problems('NotFound') },
      },
    },
    async (request) =>
      readPage(
        request.query,
        async (limit, after) =>
          lost.currents(
            callerOf(request).tenant,
            await store.page(
              callerOf(request).tenant,
              { session: request.params.key, status: request.query.status },
              limit,
              after && isTimeKeys(after) ? after : undefined,
            ),
          ),
        (row) => [row.created_at, row.id],
        (row) => showSubagent(row, link),
        isTimeKeys,
      ),
  );

  app.get(
    '/v1/subagents/:id',
    {
      config: { scope: 'read' },
      schema: {
        tags: ['subagents'],
        operationId: 'getSubagent',
        summary: 'Get a subagent with its result',
        params: idParams,
        response: { 200: subagentSchema, ...problems('NotFound') },
      },
    },
    async (request) => {
      const row = await subagentOr404(deps.pool, request);
      return showSubagent(await lost.current(callerOf(request).tenant, row), link);
    },
  );
}

function addActions(app: Api, deps: ApiDeps): void {
  app.post(
    '/v1/subagents/:id/stop',
    {
      config: { scope: 'run', repeatable: true },
      preValidation: async (request) => void (await subagentOr404(deps.pool, request)),
      schema: {
        tags: ['subagents'],
        operationId: 'stopSubagent',
        summary: 'Stop a subagent',
        description: 'Its parent is told that it was cancelled.',
        params: idParams,
        body: subagentStopSchema,
        response: { 202: subagentStopReceiptSchema, ...problems('NotFound', 'Conflict') },
      },
    },
    async (request, reply) => {
      const caller = callerOf(request);
      const row = await subagentOr404(deps.pool, request);
      const { reason } = request.body;
      const stop = { by: signatureOf(caller), reason };
      if (!(await stopSubagent(subagentsToStop(deps), caller.tenant, row, stop))) throw notRunning(row);
      return reply.code(202).send({ id: row.id, status: row.status });
    },
  );

  app.post(
    '/v1/subagents/:id/steer',
    {
      config: { scope: 'run', repeatable: true },
      preValidation: async (request) => void (await subagentOr404(deps.pool, request)),
      schema: {
        tags: ['subagents'],
        operationId: 'steerSubagent',
        summary: 'End a subagent and start it again with another message',
        description:
          'The replacement has the old one’s place, rights and depth; only its own end is told to the parent.',
        params: idParams,
        body: subagentSteerSchema,
        response: { 202: subagentSteerReceiptSchema, ...problems('NotFound', 'Conflict') },
      },
    },
    async (request, reply) => {
      const caller = callerOf(request);
      const row = await subagentOr404(deps.pool, request);
      if (row.ended_at !== null) throw notRunning(row);
      const scrubber = await deps.secrets.vault.scrubberOf(caller.tenant);
      const input: SteerSubagentInput = {
        message: scrubber.text(request.body.message),
        by: signatureOf(caller),
      };
      const receipt = await deps.temporal.update<SteerSubagentReceipt>(
        subagentWorkflowId(row.id),
        SUBAGENT.updates.steer,
        input,
        stemOf(request, caller, 'steer', row.id) ?? randomUUID(),
      );
      if (!receipt) throw notRunning(row);
      return reply.code(202).send({ id: row.id, replaced_by: receipt.replaced_by });
    },
  );
}

function notRunning({ id, status, ended_at }: SubagentRow): Failure {
  return new Failure(
    'Conflict',
    `subagent "${id}" is not running${ended_at === null ? '' : ` (status=${status})`}`,
  );
}

function showSubagent(row: SubagentRow, link: TemporalLink): z.infer<typeof subagentSchema> {
  const workflowId = subagentWorkflowId(row.id);
  const iso = (time: string): string => new Date(time).toISOString();
  return {
    id: row.id,
    workflow_id: workflowId,
    parent_session: row.parent_session,
    parent_turn: row.parent_turn,
    parent_call: row.parent_call,
    session_key: row.session_key,
    depth: row.depth,
    agent: row.agent_key,
    user: row.user_id,
    label: row.label,
    task: row.task,
    mode: row.mode,
    announce: row.announce,
    detached: row.detached,
    status: row.status,
    result: row.result,
    error: row.error,
    iterations: row.iterations,
    usage: { input_tokens: row.input_tokens, output_tokens: row.output_tokens },
    stopped_by: row.stopped_by,
    replaced_by: row.replaced_by,
    links: { temporal: link(workflowId) },
    created_at: iso(row.created_at),
    started_at: row.started_at && iso(row.started_at),
    ended_at: row.ended_at && iso(row.ended_at),
  };
}
