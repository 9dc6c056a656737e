/** Puts the parts of subagents together: their rows, the way to their workflows, and the way back to their parents. */
import { createEndCommands, type EndCommands } from '#activities/process/end-commands.ts';
import type { LostWork } from '#temporal/lost-work.ts';
import { createSubagentStore } from '#store/subagent-store.ts';
import { createSubagentDesk, type SubagentDesk } from '#activities/assignments/subagent-desk.ts';
import { createSubagentActivities } from '#activities/assignments/subagent-run.ts';
import type { WakeSession } from '#activities/turn/wake-session.ts';
import { findOpenTurn } from '#store/turn-store.ts';
import { sessionWorkflowId } from '#domain/ids.ts';
import { ModelError } from '#domain/model.ts';
import type { DelegationDesk } from '#activities/assignments/delegation-desk.ts';
import type { SubagentActivities } from '#domain/subagent.ts';
import { AGENT_TURN, type StopInput } from '#domain/turn.ts';
import type { WorkerParts } from './create-worker.ts';

/** Ends a session's turn, when one runs beside its workflow, its background commands, and what it has started or given away. */
export type StopSession = (tenant: string, session: string, by: string) => Promise<void>;

export function createSubagents(
  { config, pool, notifier, models, temporal, tools, vault }: WorkerParts,
  wake: WakeSession,
  delegations: Pick<DelegationDesk, 'stopAll'>,
  lost: LostWork,
): {
  readonly desk: SubagentDesk;
  readonly activities: SubagentActivities;
  readonly stopSession: StopSession;
  readonly endCommands: EndCommands;
} {
  const { maxConcurrent, maxDepth, maxChildren, maxIterations, archiveAfterMinutes, timeoutSeconds, model } =
    config.subagents;
  const subagents = createSubagentStore(pool, notifier.poke);
  const run = {
    subagents,
    wake,
    limits: { children: maxChildren, archiveMinutes: archiveAfterMinutes },
  };
  const desk = createSubagentDesk({
    subagents,
    scrubberOf: vault.scrubberOf,
    reach: temporal,
    lost: lost.subagents,
    modelProblem(ref) {
      try {
        models.resolve(ref);
        return undefined;
      } catch (error) {
        if (error instanceof ModelError) return error.message;
        throw error;
      }
    },
    limits: {
      concurrent: maxConcurrent,
      depth: maxDepth,
      children: maxChildren,
      iterations: maxIterations,
      archiveMinutes: archiveAfterMinutes,
      timeoutSeconds,
      model,
    },
  });
  const endCommands = createEndCommands(tools.processes, subagents);
  const stopSession: StopSession = async (tenant, session, by) => {
    const turn = await findOpenTurn(pool, tenant, session);
    if (turn) {
      const stop: StopInput = { level: 'all', turn_id: turn.id, by };
      await temporal.signal(sessionWorkflowId(tenant, session), AGENT_TURN.signals.stop, stop);
    }
    await Promise.all([
      // The end of a turn that runs does it.
      turn ? undefined : endCommands(tenant, session),
      desk.stopAll(tenant, session, by),
      delegations.stopAll(tenant, session, by),
    ]);
  };
  return {
    desk,
    stopSession,
    endCommands,
    activities: createSubagentActivities({ ...run, stopSession, reach: temporal }),
  };
}
