/** Rounds of making and judging: all drafts and verdicts (DE-4). */
import { z } from 'zod';
import { createEvaluationStore } from '#activities/store/evaluation-store.ts';
import { Failure } from '#domain/errors.ts';
import { evaluationWorkflowId, isMessageId } from '#domain/ids.ts';
import { evaluationSchema } from '#domain/schema/evaluation.ts';
import { callerOf } from '../auth.ts';
import type { Api, ApiDeps } from '../deps.ts';
import { problems } from '../openapi.ts';
import { createTemporalLink } from '../temporal-links.ts';

export function addEvaluationRoutes(app: Api, deps: ApiDeps): void {
  const link = createTemporalLink(deps.settings);
  const store = createEvaluationStore(deps.pool, deps.notifier.poke);

  app.get(
    '/v1/evaluations/:id',
    {
      config: { scope: 'read' },
      schema: {
        tags: ['delegations'],
        summary: 'Get an evaluate loop with all its drafts and verdicts',
        params: z.object({ id: z.string() }),
        response: { 200: evaluationSchema, ...problems('NotFound') },
      },
    },
    async (request) => {
      const { tenant } = callerOf(request);
      const { id } = request.params;
      const row = isMessageId(id) ? await store.find(tenant, id) : undefined;
      if (!row) throw new Failure('NotFound', 'There is no evaluate loop with this id');
      const rounds = await store.rounds(tenant, row.id);
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
        rounds: rounds.map(({ round, draft, verdict, feedback }) => ({ round, draft, verdict, feedback })),
        stopped_by: row.stopped_by,
        links: { temporal: link(workflowId) },
        created_at: new Date(row.created_at).toISOString(),
        ended_at: row.ended_at && new Date(row.ended_at).toISOString(),
      };
    },
  );
}
