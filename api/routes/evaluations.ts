/** Rounds of making and judging: which there are, all drafts and verdicts of one, and ending one (DE-4). */
import { z } from 'zod';
import { EVALUATION_STATUSES, type EvaluationStatus } from '#domain/evaluate-loop.ts';
import {
  evaluationDetailSchema,
  evaluationSchema,
  evaluationStopReceiptSchema,
} from '#domain/schema/assignment.ts';
import { pageQuery, pageSchema, sessionKeySchema } from '#domain/schema/scalars.ts';
import { type AssignmentRow, findRounds } from '#store/assignment-store.ts';
import { addStopRoute, createAssignmentRoutes, sharedFields } from '../assignment-routes.ts';
import { callerOf } from '../auth.ts';
import type { Api, ApiDeps } from '../deps.ts';
import { problems } from '../openapi.ts';
import type { TemporalLink } from '../temporal-links.ts';

const idParams = z.object({ id: z.string() });

export function addEvaluationRoutes(app: Api, deps: ApiDeps): void {
  const evaluations = createAssignmentRoutes(deps, 'evaluation', showEvaluation);

  app.get(
    '/v1/evaluations',
    {
      config: { scope: 'read' },
      schema: {
        tags: ['delegations'],
        operationId: 'listEvaluations',
        summary: 'List evaluate loops, newest first',
        querystring: z.strictObject({
          ...pageQuery,
          session_key: sessionKeySchema.optional().meta({ description: 'The session that began it' }),
          status: z.enum(EVALUATION_STATUSES).optional(),
        }),
        response: { 200: pageSchema(evaluationSchema), ...problems() },
      },
    },
    (request) => {
      const { session_key: session, status } = request.query;
      return evaluations.page(request, request.query, {
        session,
        status,
        user: callerOf(request).confinedTo,
      });
    },
  );

  app.get(
    '/v1/evaluations/:id',
    {
      config: { scope: 'read' },
      schema: {
        tags: ['delegations'],
        operationId: 'getEvaluation',
        summary: 'Get an evaluate loop with all its drafts and verdicts',
        params: idParams,
        response: { 200: evaluationDetailSchema, ...problems('NotFound') },
      },
    },
    async (request) => {
      const row = await evaluations.find(request);
      const rounds = await findRounds(deps.pool, callerOf(request).tenant, row.id);
      return { ...evaluations.show(row), rounds: [...rounds] };
    },
  );

  addStopRoute(app, deps, 'evaluation', {
    path: '/v1/evaluations/:id/stop',
    tag: 'delegations',
    operationId: 'stopEvaluation',
    description: 'The turn that waits for it goes on with what it has.',
    receipt: evaluationStopReceiptSchema,
  });
}

function showEvaluation(row: AssignmentRow, link: TemporalLink): z.infer<typeof evaluationSchema> {
  return {
    ...sharedFields(row, link),
    origin_session: row.origin_session,
    generator: row.target_key,
    evaluator: row.details?.evaluator ?? '',
    max_rounds: row.details?.max_rounds ?? 0,
    status: row.status as EvaluationStatus,
  };
}
