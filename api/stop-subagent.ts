/** Ending subagents from outside: their rows say so first, so that one whose workflow has not begun will not. */
import { createSubagentStore, type SubagentRow } from '#activities/store/subagent-store.ts';
import { subagentWorkflowId } from '#domain/ids.ts';
import { SUBAGENT, type StopSubagentInput } from '#domain/subagent.ts';
import { sessionStop } from '#domain/subagent-stop.ts';
import type { ApiDeps } from './deps.ts';
import { lostWorkOf } from './lost-work.ts';

type Needs = Pick<ApiDeps, 'pool' | 'notifier' | 'temporal'>;

/** False when it has ended. Safe to repeat. */
export async function stopSubagent(
  deps: Needs,
  tenant: string,
  row: SubagentRow,
  stop: StopSubagentInput & { readonly by: string },
): Promise<boolean> {
  const store = createSubagentStore(deps.pool, deps.notifier.poke);
  if (!(await store.markStopped(tenant, row.id, stop.by, stop.silent ?? false))) return false;
  if (await deps.temporal.signal(subagentWorkflowId(row.id), SUBAGENT.signals.stop, stop)) return true;
  await lostWorkOf(deps).subagents.current(tenant, row);
  await deps.temporal.signal(...sessionStop(tenant, row, stop.by));
  return true;
}

/** Those of a session in which no turn runs that could stop them itself; returns how many ran. */
export async function stopSubagents(
  deps: Needs,
  tenant: string,
  session: string,
  by: string,
): Promise<number> {
  const store = createSubagentStore(deps.pool, deps.notifier.poke);
  const children = (await store.active(tenant)).filter(
    (row) => row.parent_session === session && !row.detached,
  );
  const stop = { by, reason: 'the session that started it was stopped', silent: true };
  const stopped = await Promise.all(children.map((row) => stopSubagent(deps, tenant, row, stop)));
  return stopped.filter(Boolean).length;
}
