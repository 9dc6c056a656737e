/** Puts the parts of delegations together: their rows, their gates, the way to their workflows and back to who gave the work. */
import type { BudgetDesk } from '#activities/budgets/budget-desk.ts';
import { createDelegationDesk, type DelegationDesk } from '#activities/assignments/delegation-desk.ts';
import { createDelegationActivities } from '#activities/assignments/delegation-run.ts';
import { createGateActivities } from '#activities/gates/gate-run.ts';
import type { LostWork } from '#temporal/lost-work.ts';
import { createEmbed } from '#activities/model/embed.ts';
import { createEmbeddingStore } from '#store/embedding-store.ts';
import { createDelegationStore } from '#store/delegation-store.ts';
import { gateRows } from '#store/gate-store.ts';
import type { WakeSession } from '#activities/turn/wake-session.ts';
import { workspaceFolder } from '#activities/workspace/workspace-folder.ts';
import { createEvaluationDesk, type EvaluationDesk } from '#activities/assignments/evaluation-desk.ts';
import { createHandoffDesk, type HandoffDesk } from '#activities/assignments/handoff-desk.ts';
import { createEvaluationActivities } from '#activities/assignments/evaluation-run.ts';
import { createEvaluationStore } from '#store/evaluation-store.ts';
import type { EvaluationActivities } from '#domain/evaluate-loop.ts';
import type { DelegationActivities } from '#domain/delegation.ts';
import type { GateActivities } from '#domain/gate-activities.ts';
import type { StopSession } from './create-subagents.ts';
import type { WorkerParts } from './create-worker.ts';

export function createDelegationParts(
  { config, models, pool, notifier, temporal, tools, vault }: WorkerParts,
  wake: WakeSession,
  budgets: BudgetDesk,
  lost: LostWork,
): {
  readonly desk: DelegationDesk;
  readonly evaluations: EvaluationDesk;
  readonly handoffs: HandoffDesk;
  readonly activities: (
    stopSession: StopSession,
  ) => DelegationActivities & GateActivities & EvaluationActivities;
} {
  const delegations = createDelegationStore(pool, notifier.poke);
  const told = { delegations, wake };
  const evaluations = createEvaluationStore(pool, notifier.poke);
  const { scrubberOf } = vault;
  const workspaceOf = (tenant: string, workspace: string): string =>
    workspaceFolder(config.workspaceRoot, tenant, workspace);
  const desk = createDelegationDesk({
    pool,
    delegations,
    scrubberOf,
    reach: temporal,
    files: tools.files,
    workspaceOf,
    lost: lost.delegations,
    embed: createEmbed({
      store: createEmbeddingStore(pool),
      models,
      model: config.embeddings.model,
      budgets,
    }),
  });
  return {
    desk,
    evaluations: createEvaluationDesk({ evaluations, mayGive: desk.mayGive, scrubberOf }),
    handoffs: createHandoffDesk({
      pool,
      sessions: tools.sessions,
      mayGive: desk.mayGive,
      scrubberOf,
      wake,
    }),
    activities: (stopSession) => ({
      ...createDelegationActivities({
        ...told,
        gateRows: (tenant, owner) => gateRows(pool, tenant, owner),
        stopSession,
      }),
      ...createEvaluationActivities({ pool, evaluations, delegations, scrubberOf }),
      ...createGateActivities({
        pool,
        delegations,
        scrubberOf,
        shell: tools.shell,
        files: tools.files,
        budgets,
        sandbox: config.sandbox,
        workspaceOf,
        onWrite: notifier.poke,
      }),
    }),
  };
}
