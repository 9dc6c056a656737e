/**
 * Ends assignments whose workflow was ended from outside. Otherwise their rows would hold their places for ever, and nobody
 * would be told.
 */
import { Failure } from '#domain/errors.ts';
import { assignmentWorkflowId } from '#domain/ids.ts';
import { isLost, LOST_END } from '#domain/lost-work.ts';
import type { WorkflowReach } from '#domain/workflow-reach.ts';
import { type AssignmentRow, findAssignment, openAssignments } from '#store/assignment-store.ts';
import { endAssignment } from '#store/end-assignment.ts';
import { tenantsWithOpenWork } from '#store/open-work.ts';
import type { Pool } from '#store/pool.ts';
import { lostAssignmentStart } from './assignment-inputs.ts';
import { createLostRuns } from './lost-runs.ts';

export interface LostWorkDeps {
  readonly pool: Pool;
  /** Told after each commit that may have added events to a session's feed. */
  readonly onWrite: (tenant: string, session: string) => void;
  readonly reach: Pick<WorkflowReach, 'stateOf' | 'start'>;
  readonly now: () => number;
  /**
   * For who only looks, and knows nothing of workers: waits no longer than this for Temporal, and leaves alone what a turn may
   * yet start.
   */
  readonly lookMs?: number;
}

/** Each method is safe to repeat, and at several places at once. */
export interface LostWork {
  /** The row as it is: ended now, when its workflow is over. As it was while Temporal is away. */
  current(tenant: string, row: AssignmentRow): Promise<AssignmentRow>;
  currents(tenant: string, rows: readonly AssignmentRow[]): Promise<readonly AssignmentRow[]>;
  /** Looks at all of the tenant that hold a place; returns how many were lost. Throws Failures. */
  sweep(tenant: string): Promise<number>;
  /** All of every tenant that are older than this, sessions and team tasks as well; returns how many were lost. Throws Failures. */
  sweepAll(olderThanSeconds: number): Promise<number>;
}

export function createLostWork(deps: LostWorkDeps): LostWork {
  const { pool } = deps;
  const current = async (tenant: string, row: AssignmentRow): Promise<AssignmentRow> => {
    try {
      return (await endIfLost(deps, tenant, row)) ?? row;
    } catch (error) {
      if (error instanceof Failure && error.type === 'Unavailable') return row;
      throw error;
    }
  };
  const sweep = async (tenant: string): Promise<number> => {
    let lost = 0;
    for (const row of await openAssignments(pool, tenant)) {
      const now = await endIfLost(deps, tenant, row);
      if (now?.error?.message === LOST_END.error.message) lost += 1;
    }
    return lost;
  };
  const runs = createLostRuns(deps);
  return {
    current,
    currents: (tenant, rows) => Promise.all(rows.map((row) => current(tenant, row))),
    sweep,
    async sweepAll(olderThanSeconds) {
      const tenants = await tenantsWithOpenWork(pool, olderThanSeconds);
      return sumOf([...tenants.map((tenant) => () => sweep(tenant)), () => runs.sweep(olderThanSeconds)]);
    },
  };
}

/** The row as it is now; undefined when it is as it was given. */
async function endIfLost(
  { pool, onWrite, reach, now, lookMs }: LostWorkDeps,
  tenant: string,
  row: AssignmentRow,
): Promise<AssignmentRow | undefined> {
  if (row.ended_at !== null) return undefined;
  const state = await reach.stateOf(assignmentWorkflowId(row.kind, row.id), lookMs);
  const age = lookMs === undefined ? now() - Date.parse(row.created_at) : 0;
  if (!isLost(state, age)) return undefined;
  // A workflow that ends by itself has recorded that before, so what is read now is how it is.
  const seen = await findAssignment(pool, tenant, row.id);
  if (seen?.ended_at !== null) return seen;
  // Before the record: once the row has ended, nobody looks at it again, and all that is left to do is this workflow's.
  await reach.start(lostAssignmentStart(tenant, row));
  const ended = await endAssignment(pool, { tenant, id: row.id }, LOST_END);
  onWrite(tenant, row.origin_session);
  return ended?.row;
}

/** What goes wrong in one sweep keeps none of the others from theirs, unless what all of them need is away. */
async function sumOf(sweeps: readonly (() => Promise<number>)[]): Promise<number> {
  const problems: unknown[] = [];
  let sum = 0;
  for (const sweep of sweeps) {
    try {
      sum += await sweep();
    } catch (error) {
      if (error instanceof Failure && error.type === 'Unavailable') throw error;
      problems.push(error);
    }
  }
  if (problems.length > 0) throw problems[0];
  return sum;
}
