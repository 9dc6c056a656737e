/** Rounds of making and judging: which there are, all drafts and verdicts of one, and ending one (DE-4). */
import { z } from 'zod';
import { createEvaluationStore, type EvaluationRow } from '#store/evaluation-store.ts';
import { Failure } from '#domain/errors.ts';
import { EVALUATE_LOOP, EVALUATION_STATUSES } from '#domain/evaluate-loop.ts';
import { evaluationWorkflowId } from '#domain/ids.ts';
import {
  evaluationDetailSchema,
  evaluationSchema,
  evaluationStopReceiptSchema,
  evaluationStopSchema,
} from '#domain/schema/evaluation.ts';
import { pageQuery, pageSchema, sessionKeySchema } from '#domain/schema/scalars.ts';
import { callerOf, signatureOf } from '../auth.ts';
import type { Api, ApiDeps } from '../deps.ts';
import { evaluationOr404 } from '../found.ts';
import { lostWorkOf } from '../lost-work.ts';
import { problems } from '../openapi.ts';
import { isTimeKeys, readPage } from '../pages.ts';
import { createTemporalLink, type TemporalLink } from '../temporal-links.ts';

const idParams = z.object({ id: z.string() });

export function addEvaluationRoutes(app: Api, deps: ApiDeps): void {
  addReads(app, deps);
  addStop(app, deps);
}

function addReads(app: Api, deps: ApiDeps): void {
  const link = createTemporalLink(deps.settings);
  const lost = lostWorkOf(deps).evaluations;
  const store = createEvaluationStore(deps.pool, deps.notifier.poke);

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
    async (request) => {
      const { session_key: session, status } = request.query;
      return readPage(
        request.query,
        async (limit, after) =>
          lost.currents(
            callerOf(request).tenant,
            await store.page(
              callerOf(request).tenant,
              { session, status, user: callerOf(request).confinedTo },
              limit,
              after && isTimeKeys(after) ? after : undefined,
            ),
          ),
        (row) => [row.created_at.replace('T', ' '), row.id],
        (row) => showEvaluation(row, link),
        isTimeKeys,
      );
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
      const { tenant } = callerOf(request);
      const row = await lost.current(tenant, await evaluationOr404(deps.pool, request));
      const rounds = await store.rounds(tenant, row.id);
      return {
        ...showEvaluation(row, link),
        rounds: rounds.map(({ round, draft, verdict, feedback }) => ({ round, draft, verdict, feedback })),
      };
    },
  );
}

function addStop(app: Api, deps: ApiDeps): void {
  const lost = lostWorkOf(deps).evaluations;
  app.post(
    '/v1/evaluations/:id/stop',
    {
      config: { scope: 'run', repeatable: true },
      preValidation: async (request) => void (await evaluationOr404(deps.pool, request)),
      schema: {
        tags: ['delegations'],
        operationId: 'stopEvaluation',
        summary: 'Stop an evaluate loop',
        description: 'The turn that waits for it goes on with what it has.',
        params: idParams,
        body: evaluationStopSchema,
        response: { 202: evaluationStopReceiptSchema, ...problems('NotFound', 'Conflict') },
      },
    },
    async (request, reply) => {
      const { tenant } = callerOf(request);
      const row = await lost.current(tenant, await evaluationOr404(deps.pool, request));
      const { reason } = request.body;
      const stop = { by: signatureOf(callerOf(request)), reason };
      const isTold =
        row.ended_at === null &&
        (await deps.temporal.signal(evaluationWorkflowId(row.id), EVALUATE_LOOP.signals.stop, stop));
      if (!isTold)
        throw new Failure('Conflict', `evaluate loop "${row.id}" is not running (status=${row.status})`);
      return reply.code(202).send({ id: row.id, status: row.status });
    },
  );
}

function showEvaluation(row: EvaluationRow, link: TemporalLink): z.infer<typeof evaluationSchema> {
  const workflowId = evaluationWorkflowId(row.id);
  return {
    id: row.id,
    workflow_id: workflowId,
    origin_session: row.origin_session,
    generator: row.generator_key,
    evaluator: row.evaluator_key,
    label: row.label,
    task: row.task,
    max_rounds: row.max_rounds,
    status: row.status,
    error: row.error,
    stopped_by: row.stopped_by,
    links: { temporal: link(workflowId) },
    created_at: new Date(row.created_at).toISOString(),
    ended_at: row.ended_at && new Date(row.ended_at).toISOString(),
  };
}
