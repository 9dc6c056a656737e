/** Lists, shows and stops rounds of making and judging. */
import type { AssignmentRow } from '#store/assignments/assignment-store.ts';
import type { Api, ApiDeps } from '#api/deps.ts';
import { createAssignmentRoutes, pageOfAssignments, sharedFields } from '#api/routes/assignments.ts';
import { serveResource } from '#api/serve-resource.ts';
import type { TemporalLink } from '#api/temporal-links.ts';
import type { EvaluationStatus } from './contract.ts';
import { evaluations } from './resource.ts';
import { findRounds } from './store.ts';

export function addRoutes(app: Api, deps: ApiDeps): void {
  const { link, finderOf, currentOf, stopOf } = createAssignmentRoutes(deps);
  serveResource(
    app,
    evaluations,
    {
      listEvaluations({ caller, query }) {
        const { session_key: session, status } = query;
        const filter = { kind: 'evaluation', session, status, user: caller.confinedTo } as const;
        return pageOfAssignments(deps, caller.tenant, query, filter, (row) => showEvaluation(row, link));
      },
      async getEvaluation({ caller, db, params }) {
        const row = await currentOf('evaluation', caller, params.id);
        return row && { ...showEvaluation(row, link), rounds: await findRounds(db, row.id) };
      },
      stopEvaluation: stopOf<EvaluationStatus>('evaluation'),
    },
    finderOf('evaluation'),
  );
}

function showEvaluation(row: AssignmentRow, link: TemporalLink) {
  return {
    ...sharedFields(row, link),
    generator: row.target_key,
    evaluator: row.details?.evaluator ?? '',
    max_rounds: row.details?.max_rounds ?? 0,
    status: row.status as EvaluationStatus,
  };
}
