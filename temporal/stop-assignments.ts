/** Stops assignments: their rows record it first, so that a workflow that has not started will not start. */
import { ASSIGNMENT, type StopAssignmentInput } from '#domain/assignment/assignment.ts';
import { assignmentWorkflowId } from '#domain/ids.ts';
import type { WorkflowReach } from '#domain/workflow-reach.ts';
import { type AssignmentRow, markStopped, openAssignments } from '#store/assignments/assignment-store.ts';
import type { Pool } from '#store/postgres/pool.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import type { LostWork } from './lost-work.ts';
import { TooManySignals } from './server-limits.ts';

export interface StopAssignmentsDeps {
  readonly pool: Pool;
  readonly reach: Pick<WorkflowReach, 'signal' | 'cancel'>;
  readonly lost: Pick<LostWork, 'current'>;
}

/** False when it has ended. Safe to repeat. */
export async function stopAssignment(
  { pool, reach, lost }: StopAssignmentsDeps,
  tenant: string,
  row: AssignmentRow,
  stop: StopAssignmentInput & { readonly by: string },
): Promise<boolean> {
  if (!(await markStopped(forTenant(pool, tenant), row.id, stop.by, stop.silent ?? false))) return false;
  const workflow = assignmentWorkflowId(row.kind, row.id);
  const isReached = await reach.signal(workflow, ASSIGNMENT.signals.stop, stop).catch((error: unknown) => {
    if (!(error instanceof TooManySignals)) throw error;
    // It ends in the same way; who wanted it is in its row.
    return reach.cancel(workflow);
  });
  if (!isReached) await lost.current(tenant, row);
  return true;
}

/** Stops the assignments that a session gave, without detached ones; returns how many ran. */
export async function stopAssignments(
  deps: StopAssignmentsDeps,
  tenant: string,
  session: string,
  by: string,
): Promise<number> {
  const open = (await openAssignments(forTenant(deps.pool, tenant), { session })).filter(
    (row) => !row.detached,
  );
  const stop = { by, reason: 'the session that gave the work was stopped', silent: true };
  const stopped = await Promise.all(open.map((row) => stopAssignment(deps, tenant, row, stop)));
  return stopped.filter(Boolean).length;
}
