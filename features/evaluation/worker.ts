/** Provides what rounds of making and judging need in a worker. */
import { createAgentLinks } from '#activities/assignments/agent-links.ts';
import type { WorkerPart } from '#domain/feature.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import type { WorkerCore } from '#workers/worker-core.ts';
import { createEvaluationActivities } from './activities.ts';
import { beginEvaluation, type Evaluations } from './begin-evaluation.ts';
import { endOfEvaluation } from './end.ts';
import { findRounds } from './store.ts';

export function createWorkerPart(core: WorkerCore): WorkerPart {
  const deps = { ...core, links: createAgentLinks(core) };
  const evaluations: Evaluations = { begin: (call, request) => beginEvaluation(deps, call, request) };
  return {
    tools: { evaluations },
    activities: { ...createEvaluationActivities(core) },
    assignmentEnds: {
      evaluation: async (input, row) =>
        endOfEvaluation(input, row, await findRounds(forTenant(core.pool, input.tenant), row.id)),
    },
  };
}
