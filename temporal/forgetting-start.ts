/** Starts the workflow of a forgetting, and starts it again when its start was lost. */
import { FORGET, type ForgetInput, forgetWorkflowId } from '#domain/forgetting.ts';
import type { WorkflowReach, WorkflowStart } from '#domain/workflow-reach.ts';
import { openForgettings } from '#store/forgetting-store.ts';
import type { Pool } from '#store/postgres/pool.ts';

export function forgettingStart(tenant: string, id: string): WorkflowStart {
  const input: ForgetInput = { tenant, id };
  return { type: FORGET, id: forgetWorkflowId(id), input, summary: 'forgets a session or a user', tenant };
}

/** Returns how many had no workflow. Safe to repeat. @throws Failure */
export async function startLostForgettings(
  pool: Pool,
  reach: Pick<WorkflowReach, 'stateOf' | 'start'>,
  olderThanSeconds: number,
): Promise<number> {
  let lost = 0;
  for (const { tenant_id: tenant, id } of await openForgettings(pool, olderThanSeconds)) {
    if ((await reach.stateOf(forgetWorkflowId(id))) === 'running') continue;
    await reach.start(forgettingStart(tenant, id));
    lost += 1;
  }
  return lost;
}
