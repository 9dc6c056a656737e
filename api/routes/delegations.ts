/** Delegations: what agents gave to each other, how it went with its gates, and ending one that runs (DE-2). */
import { z } from 'zod';
import { WORK_STATUSES, type WorkStatus } from '#domain/assignment.ts';
import {
  delegationDetailSchema,
  delegationSchema,
  workStopReceiptSchema,
} from '#domain/schema/assignment.ts';
import { nameSchema, pageQuery, pageSchema, sessionKeySchema } from '#domain/schema/scalars.ts';
import type { AssignmentRow } from '#store/assignment-store.ts';
import { gateRows } from '#store/gate-store.ts';
import { addStopRoute, createAssignmentRoutes, isoOf, workFields } from '../assignment-routes.ts';
import { callerOf } from '../auth.ts';
import type { Api, ApiDeps } from '../deps.ts';
import { problems } from '../openapi.ts';
import type { TemporalLink } from '../temporal-links.ts';

const idParams = z.object({ id: z.string() });

export function addDelegationRoutes(app: Api, deps: ApiDeps): void {
  const delegations = createAssignmentRoutes(deps, 'delegation', showDelegation);

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
          status: z.enum(WORK_STATUSES).optional(),
        }),
        response: { 200: pageSchema(delegationSchema), ...problems() },
      },
    },
    (request) => {
      const { source, target, session_key: session, status } = request.query;
      const user = callerOf(request).confinedTo;
      return delegations.page(request, request.query, { source, target, session, status, user });
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
      const row = await delegations.find(request);
      const checks = await gateRows(deps.pool, callerOf(request).tenant, row.id);
      return {
        ...delegations.show(row),
        checks: checks.map(({ name, attempt, kind, step, feedback, created_at }) => ({
          gate: name,
          attempt,
          kind,
          step,
          feedback,
          at: isoOf(created_at),
        })),
      };
    },
  );

  addStopRoute(app, deps, 'delegation', {
    path: '/v1/delegations/:id/stop',
    tag: 'delegations',
    operationId: 'stopDelegation',
    description: 'Who gave the work is told that it was cancelled.',
    receipt: workStopReceiptSchema,
  });
}

function showDelegation(row: AssignmentRow, link: TemporalLink): z.infer<typeof delegationSchema> {
  return {
    ...workFields(row, link),
    origin_session: row.origin_session,
    origin_turn: row.origin_turn,
    origin_call: row.origin_call,
    source: row.source_key,
    target: row.target_key,
    status: row.status as WorkStatus,
    warnings: [...row.warnings],
  };
}
