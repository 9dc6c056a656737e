/** Ending delegations from outside: their rows say so first, so that one whose workflow has not begun will not. */
import { createDelegationStore, type DelegationRow } from '#store/delegation-store.ts';
import { DELEGATION, type StopDelegationInput } from '#domain/delegation.ts';
import { delegationWorkflowId } from '#domain/ids.ts';
import type { ApiDeps } from './deps.ts';
import { lostWorkOf } from './lost-work.ts';

type Needs = Pick<ApiDeps, 'pool' | 'notifier' | 'temporal'>;

/** False when it has ended. Safe to repeat. */
export async function stopDelegation(
  deps: Needs,
  tenant: string,
  row: DelegationRow,
  stop: StopDelegationInput & { readonly by: string },
): Promise<boolean> {
  const store = createDelegationStore(deps.pool, deps.notifier.poke);
  if (!(await store.markStopped(tenant, row.id, stop.by, stop.silent ?? false))) return false;
  if (!(await deps.temporal.signal(delegationWorkflowId(row.id), DELEGATION.signals.stop, stop)))
    await lostWorkOf(deps).delegations.current(tenant, row);
  return true;
}

/** What a session gave away in which no turn runs that could stop it itself; returns how many ran. */
export async function stopDelegations(
  deps: Needs,
  tenant: string,
  session: string,
  by: string,
): Promise<number> {
  const store = createDelegationStore(deps.pool, deps.notifier.poke);
  const stop = { by, reason: 'the session that gave the work was stopped', silent: true };
  const open = await store.active(tenant, session);
  const stopped = await Promise.all(open.map((row) => stopDelegation(deps, tenant, row, stop)));
  return stopped.filter(Boolean).length;
}
