/** Subagents: which a session has started, how each went, and ending or steering one that runs. */
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { ASSIGNMENT, WORK_STATUSES, type WorkStatus } from '#domain/assignment.ts';
import { assignmentWorkflowId } from '#domain/ids.ts';
import { pageQuery, pageSchema } from '#domain/schema/scalars.ts';
import {
  subagentSchema,
  subagentSteerReceiptSchema,
  subagentSteerSchema,
  workStopReceiptSchema,
} from '#domain/schema/assignment.ts';
import type { SteerSubagentInput, SteerSubagentReceipt } from '#domain/subagent.ts';
import type { AssignmentRow } from '#store/assignment-store.ts';
import { addStopRoute, createAssignmentRoutes, notRunning, workFields } from '../assignment-routes.ts';
import { callerOf, signatureOf } from '../auth.ts';
import type { Api, ApiDeps } from '../deps.ts';
import { assignmentOr404, sessionOr404 } from '../found.ts';
import { stemOf } from '../idempotency.ts';
import { problems } from '../openapi.ts';
import type { TemporalLink } from '../temporal-links.ts';
import { sessionParams } from './messages.ts';

const idParams = z.object({ id: z.string() });

export function addSubagentRoutes(app: Api, deps: ApiDeps): void {
  const subagents = createAssignmentRoutes(deps, 'subagent', showSubagent);

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
        querystring: z.strictObject({ ...pageQuery, status: z.enum(WORK_STATUSES).optional() }),
        response: { 200: pageSchema(subagentSchema), ...problems('NotFound') },
      },
    },
    (request) => {
      const { status } = request.query;
      return subagents.page(request, request.query, { session: request.params.key, status });
    },
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
    async (request) => subagents.show(await subagents.find(request)),
  );

  addStopRoute(app, deps, 'subagent', {
    path: '/v1/subagents/:id/stop',
    tag: 'subagents',
    operationId: 'stopSubagent',
    description: 'Its parent is told that it was cancelled.',
    receipt: workStopReceiptSchema,
  });
  addSteer(app, deps);
}

function addSteer(app: Api, deps: ApiDeps): void {
  app.post(
    '/v1/subagents/:id/steer',
    {
      config: { scope: 'run', repeatable: true },
      preValidation: async (request) => void (await assignmentOr404(deps.pool, request, 'subagent')),
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
      const row = await assignmentOr404(deps.pool, request, 'subagent');
      if (row.ended_at !== null) throw notRunning(row);
      const scrubber = await deps.secrets.vault.scrubberOf(caller.tenant);
      const input: SteerSubagentInput = {
        message: scrubber.text(request.body.message),
        by: signatureOf(caller),
      };
      const receipt = await deps.temporal.update<SteerSubagentReceipt>(
        assignmentWorkflowId('subagent', row.id),
        ASSIGNMENT.updates.steer,
        input,
        stemOf(request, caller, 'steer', row.id) ?? randomUUID(),
      );
      if (!receipt) throw notRunning(row);
      return reply.code(202).send({ id: row.id, replaced_by: receipt.replaced_by });
    },
  );
}

function showSubagent(row: AssignmentRow, link: TemporalLink): z.infer<typeof subagentSchema> {
  return {
    ...workFields(row, link),
    parent_session: row.origin_session,
    parent_turn: row.origin_turn,
    parent_call: row.origin_call,
    agent: row.target_key,
    announce: row.announce,
    detached: row.detached,
    status: row.status as WorkStatus,
    replaced_by: row.replaced_by,
  };
}
