/** Ending subagents: their rows say so first, so that one whose workflow has not begun will not. */
import { sessionWorkflowId, subagentMessageId, subagentWorkflowId } from '#domain/ids.ts';
import { SUBAGENT, type StopSubagentInput } from '#domain/subagent.ts';
import { stopOfWork } from '#domain/stop-of-work.ts';
import { AGENT_TURN } from '#domain/turn.ts';
import type { WorkflowReach } from '#domain/workflow-reach.ts';
import type { LostKind } from './lost-work.ts';
import type { SubagentRow, SubagentStore } from '#store/subagent-store.ts';

export interface StopSubagentsDeps {
  readonly subagents: Pick<SubagentStore, 'active' | 'markStopped'>;
  readonly reach: Pick<WorkflowReach, 'signal'>;
  readonly lost: Pick<LostKind<SubagentRow>, 'current'>;
}

/** False when it has ended. Safe to repeat. */
export async function stopSubagent(
  { subagents, reach, lost }: StopSubagentsDeps,
  tenant: string,
  row: SubagentRow,
  stop: StopSubagentInput & { readonly by: string },
): Promise<boolean> {
  if (!(await subagents.markStopped(tenant, row.id, stop.by, stop.silent ?? false))) return false;
  if (await reach.signal(subagentWorkflowId(row.id), SUBAGENT.signals.stop, stop)) return true;
  await lost.current(tenant, row);
  // Its session may have begun before its own workflow.
  const session = sessionWorkflowId(tenant, row.session_key);
  await reach.signal(
    session,
    AGENT_TURN.signals.stop,
    stopOfWork(subagentMessageId(row.id), { by: stop.by }),
  );
  return true;
}

/** Those of a session, but not what was started detached; returns how many ran. */
export async function stopSubagents(
  deps: StopSubagentsDeps,
  tenant: string,
  session: string,
  by: string,
): Promise<number> {
  const children = (await deps.subagents.active(tenant)).filter(
    (row) => row.parent_session === session && !row.detached,
  );
  const stop = { by, reason: 'the session that started it was stopped', silent: true };
  const stopped = await Promise.all(children.map((row) => stopSubagent(deps, tenant, row, stop)));
  return stopped.filter(Boolean).length;
}
