/** Delegations: what agents gave to each other, how it went with its gates, and ending one that runs (DE-2). */
import { z } from 'zod';
import { createDelegationStore, type DelegationRow } from '#store/delegation-store.ts';
import { gateRows } from '#store/gate-store.ts';
import { DELEGATION_STATUSES } from '#domain/delegation.ts';
import { Failure } from '#domain/errors.ts';
import { delegationWorkflowId } from '#domain/ids.ts';
import {
  delegationDetailSchema,
  delegationSchema,
  delegationStopReceiptSchema,
  delegationStopSchema,
} from '#domain/schema/delegation.ts';
import { nameSchema, pageQuery, pageSchema, sessionKeySchema } from '#domain/schema/scalars.ts';
import { callerOf, signatureOf } from '../auth.ts';
import type { Api, ApiDeps } from '../deps.ts';
import { delegationOr404 } from '../found.ts';
import { lostWorkOf } from '../lost-work.ts';
import { problems } from '../openapi.ts';
import { isTimeKeys, readPage } from '../pages.ts';
import { stopDelegation } from '../stop-delegations.ts';
import { createTemporalLink, type TemporalLink } from '../temporal-links.ts';

const idParams = z.object({ id: z.string() });

export function addDelegationRoutes(app: Api, deps: ApiDeps): void {
  addReads(app, deps);
  addStop(app, deps);
}

function addReads(app: Api, deps: ApiDeps): void {
  const link = createTemporalLink(deps.settings);
  const lost = lostWorkOf(deps).delegations;
  const store = createDelegationStore(deps.pool, deps.notifier.poke);

  app.get(
    '/v1/delegations',
    {
      config: { scope: 'read' },
      schema: {
        tags: ['delegations'],
        operationId: 'listDelegations',
        summary: 'List delegations, newest first',
        querystring: z.strictObject({
          ...pageQuery,
          source: nameSchema.optional().meta({ description: 'The agent that gave it' }),
          target: nameSchema.optional().meta({ description: 'The agent that works on it' }),
          session_key: sessionKeySchema.optional().meta({ description: 'The session that gave it' }),
          status: z.enum(DELEGATION_STATUSES).optional(),
        }),
        response: { 200: pageSchema(delegationSchema), ...problems() },
      },
    },
    async (request) => {
      const { source, target, session_key: session, status } = request.query;
      return readPage(
        request.query,
        async (limit, after) =>
          lost.currents(
            callerOf(request).tenant,
            await store.page(
              callerOf(request).tenant,
              { source, target, session, status, user: callerOf(request).confinedTo },
              limit,
              after && isTimeKeys(after) ? after : undefined,
            ),
          ),
        (row) => [row.created_at.replace('T', ' '), row.id],
        (row) => showDelegation(row, link),
        isTimeKeys,
      );
    },
  );

  app.get(
    '/v1/delegations/:id',
    {
      config: { scope: 'read' },
      schema: {
        tags: ['delegations'],
        operationId: 'getDelegation',
        summary: 'Get a delegation with its result and what its gates found',
        params: idParams,
        response: { 200: delegationDetailSchema, ...problems('NotFound') },
      },
    },
    async (request) => {
      const { tenant } = callerOf(request);
      const row = await lost.current(tenant, await delegationOr404(deps.pool, request));
      const checks = await gateRows(deps.pool, tenant, row.id);
      return {
        ...showDelegation(row, link),
        checks: checks.map(({ name, attempt, kind, step, feedback, created_at }) => ({
          gate: name,
          attempt,
          kind,
          step,
          feedback,
          at: new Date(created_at).toISOString(),
        })),
      };
    },
  );
}

function addStop(app: Api, deps: ApiDeps): void {
  app.post(
    '/v1/delegations/:id/stop',
    {
      config: { scope: 'run', repeatable: true },
      preValidation: async (request) => void (await delegationOr404(deps.pool, request)),
      schema: {
        tags: ['delegations'],
        operationId: 'stopDelegation',
        summary: 'Stop a delegation',
        description: 'Who gave the work is told that it was cancelled.',
        params: idParams,
        body: delegationStopSchema,
        response: { 202: delegationStopReceiptSchema, ...problems('NotFound', 'Conflict') },
      },
    },
    async (request, reply) => {
      const caller = callerOf(request);
      const row = await delegationOr404(deps.pool, request);
      const by = signatureOf(caller);
      const { reason } = request.body;
      const stop = { by, reason };
      if (!(await stopDelegation(deps, caller.tenant, row, stop)))
        throw new Failure('Conflict', `delegation "${row.id}" is not running (status=${row.status})`);
      return reply.code(202).send({ id: row.id, status: row.status });
    },
  );
}

function showDelegation(row: DelegationRow, link: TemporalLink): z.infer<typeof delegationSchema> {
  const workflowId = delegationWorkflowId(row.id);
  const iso = (time: string): string => new Date(time).toISOString();
  return {
    id: row.id,
    workflow_id: workflowId,
    origin_session: row.origin_session,
    origin_turn: row.origin_turn,
    origin_call: row.origin_call,
    source: row.source_key,
    target: row.target_key,
    session_key: row.session_key,
    depth: row.depth,
    user: row.user_id,
    label: row.label,
    task: row.task,
    mode: row.mode,
    status: row.status,
    result: row.result,
    error: row.error,
    warnings: [...row.warnings],
    iterations: row.iterations,
    usage: { input_tokens: row.input_tokens, output_tokens: row.output_tokens },
    stopped_by: row.stopped_by,
    links: { temporal: link(workflowId) },
    created_at: iso(row.created_at),
    started_at: row.started_at && iso(row.started_at),
    ended_at: row.ended_at && iso(row.ended_at),
  };
}
