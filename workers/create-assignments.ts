/** Puts the parts of assignments together: their rows and gates, the way to their workflows, and back to who gave the work. */
import { type AgentLinks, createAgentLinks } from '#activities/assignments/agent-links.ts';
import { type Assignments, createAssignments } from '#activities/assignments/assignments.ts';
import { createAssignmentActivities } from '#activities/assignments/assignment-run.ts';
import { createEvaluationActivities } from '#activities/assignments/evaluation-run.ts';
import { createHandoffs, type Handoffs } from '#activities/assignments/handoffs.ts';
import type { BudgetDesk } from '#activities/budgets/budget-desk.ts';
import { createGateActivities } from '#activities/gates/gate-run.ts';
import { createEmbed } from '#activities/model/embed.ts';
import { createEndCommands, type EndCommands } from '#activities/process/end-commands.ts';
import type { WakeSession } from '#activities/turn/wake-session.ts';
import { workspaceFolder } from '#activities/workspace/workspace-folder.ts';
import type { AssignmentActivities } from '#domain/assignment.ts';
import type { EvaluationActivities } from '#domain/evaluate-loop.ts';
import type { GateActivities } from '#domain/gate-activities.ts';
import { sessionWorkflowId } from '#domain/ids.ts';
import { ModelError } from '#domain/model.ts';
import { AGENT_TURN, type StopInput } from '#domain/turn.ts';
import { sessionsBelow } from '#store/assignment-store.ts';
import { createEmbeddingStore } from '#store/embedding-store.ts';
import { findOpenTurn } from '#store/turn-store.ts';
import type { LostWork } from '#temporal/lost-work.ts';
import type { WorkerParts } from './create-worker.ts';

export function createAssignmentParts(
  parts: WorkerParts,
  wake: WakeSession,
  budgets: BudgetDesk,
  lost: LostWork,
): {
  readonly assignments: Assignments;
  readonly links: AgentLinks;
  readonly handoffs: Handoffs;
  readonly endCommands: EndCommands;
  readonly activities: AssignmentActivities & GateActivities & EvaluationActivities;
} {
  const { config, models, pool, notifier, temporal, tools, vault } = parts;
  const { maxConcurrent, maxDepth, maxChildren, maxIterations, archiveAfterMinutes, timeoutSeconds, model } =
    config.subagents;
  const shared = { pool, onWrite: notifier.poke, scrubberOf: vault.scrubberOf, files: tools.files };
  const workspaceOf = (tenant: string, workspace: string): string =>
    workspaceFolder(config.workspaceRoot, tenant, workspace);
  const embed = createEmbed({
    store: createEmbeddingStore(pool),
    models,
    model: config.embeddings.model,
    budgets,
  });
  const links = createAgentLinks({ ...shared, embed });
  const assignments = createAssignments({
    ...shared,
    links,
    reach: temporal,
    workspaceOf,
    lost,
    subagents: {
      concurrent: maxConcurrent,
      depth: maxDepth,
      children: maxChildren,
      iterations: maxIterations,
      archiveMinutes: archiveAfterMinutes,
      timeoutSeconds,
      model,
      modelProblem: (ref) => modelProblem(models, ref),
    },
  });
  const endCommands = createEndCommands(tools.processes, (tenant, session) =>
    sessionsBelow(pool, tenant, session),
  );
  return {
    assignments,
    links,
    handoffs: createHandoffs({ ...shared, sessions: tools.sessions, links, wake }),
    endCommands,
    activities: {
      ...createAssignmentActivities({
        ...shared,
        wake,
        limits: { children: maxChildren, archiveMinutes: archiveAfterMinutes },
        stopSession: createStopSession(parts, endCommands, assignments),
      }),
      ...createEvaluationActivities(shared),
      ...createGateActivities({
        ...shared,
        shell: tools.shell,
        budgets,
        sandbox: config.sandbox,
        workspaceOf,
      }),
    },
  };
}

function modelProblem(models: WorkerParts['models'], ref: string): string | undefined {
  try {
    models.resolve(ref);
    return undefined;
  } catch (error) {
    if (error instanceof ModelError) return error.message;
    throw error;
  }
}

/** Ends a session's turn, when one runs beside its workflow, its background commands, and what it has given away. */
function createStopSession(
  { pool, temporal }: Pick<WorkerParts, 'pool' | 'temporal'>,
  endCommands: EndCommands,
  assignments: Pick<Assignments, 'stopAll'>,
) {
  return async (tenant: string, session: string, by: string): Promise<void> => {
    const turn = await findOpenTurn(pool, tenant, session);
    if (turn) {
      const stop: StopInput = { level: 'all', turn_id: turn.id, by };
      await temporal.signal(sessionWorkflowId(tenant, session), AGENT_TURN.signals.stop, stop);
    }
    await Promise.all([
      // The end of a turn that runs does it.
      turn ? undefined : endCommands(tenant, session),
      assignments.stopAll(tenant, session, by),
    ]);
  };
}
