/**
 * Ends assignments whose workflow was ended from outside. Otherwise their rows would keep their slots for ever, and
 * nobody would be notified.
 */
import { createConcurrencyLimit } from '#domain/async/concurrency-limit.ts';
import { Failure } from '#domain/errors.ts';
import { assignmentWorkflowId } from '#domain/ids.ts';
import { isLost, LOST_END } from '#domain/turn/lost-work.ts';
import type { WorkflowReach } from '#domain/workflow-reach.ts';
import { type AssignmentRow, findAssignment, openAssignments } from '#store/assignments/assignment-store.ts';
import { endAssignment } from '#store/assignments/end-assignment.ts';
import { tenantsWithOpenWork } from '#store/turns/open-work.ts';
import type { Pool } from '#store/postgres/pool.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { lostAssignmentStart } from './assignment-inputs.ts';
import { createLostRuns } from './lost-runs.ts';

export interface LostWorkDeps {
  readonly pool: Pool;
  /** Called after each commit that may have added events to a session's feed. */
  readonly onWrite: (tenant: string, session: string) => void;
  readonly reach: Pick<WorkflowReach, 'stateOf' | 'start' | 'signalWithStart'>;
  readonly now: () => number;
  /**
   * For read-only callers that know nothing about workers: they wait this long for Temporal, and skip work that a turn
   * may still start.
   */
  readonly lookMs?: number;
}

/** Each method is safe to repeat, also concurrently. */
export interface LostWork {
  /** The present row: ended now if its workflow is over. Unchanged while Temporal is unavailable. */
  current(tenant: string, row: AssignmentRow): Promise<AssignmentRow>;
  currents(tenant: string, rows: readonly AssignmentRow[]): Promise<readonly AssignmentRow[]>;
  /** Checks all the tenant's open assignments; returns how many were lost. @throws Failure */
  sweep(tenant: string): Promise<number>;
  /**
   * Checks all tenants' work older than this, including sessions and team tasks; returns how many were lost. @throws
   * Failure
   */
  sweepAll(olderThanSeconds: number): Promise<number>;
}

/** Assignments checked at the same time: each is a request to Temporal. */
const MAX_CHECKS = 16;

export function createLostWork(deps: LostWorkDeps): LostWork {
  const { pool } = deps;
  const checks = createConcurrencyLimit(MAX_CHECKS);
  const current = async (tenant: string, row: AssignmentRow): Promise<AssignmentRow> => {
    try {
      return (await endIfLost(deps, tenant, row)) ?? row;
    } catch (error) {
      if (error instanceof Failure && error.type === 'Unavailable') return row;
      throw error;
    }
  };
  const sweep = async (tenant: string): Promise<number> => {
    const rows = await openAssignments(forTenant(pool, tenant));
    const ended = await Promise.all(
      rows.map((row) => checks.pass('check', () => endIfLost(deps, tenant, row))),
    );
    return ended.filter((row) => row?.error?.message === LOST_END.error.message).length;
  };
  const runs = createLostRuns(deps);
  return {
    current,
    currents: (tenant, rows) => Promise.all(rows.map((row) => current(tenant, row))),
    sweep,
    async sweepAll(olderThanSeconds) {
      const tenants = await tenantsWithOpenWork(pool, olderThanSeconds);
      return sumOf([() => runs.sweep(olderThanSeconds), ...tenants.map((tenant) => () => sweep(tenant))]);
    },
  };
}

/** The row after the check; undefined when it is unchanged. */
async function endIfLost(
  { pool, onWrite, reach, now, lookMs }: LostWorkDeps,
  tenant: string,
  row: AssignmentRow,
): Promise<AssignmentRow | undefined> {
  if (row.ended_at !== null) return undefined;
  const state = await reach.stateOf(assignmentWorkflowId(row.kind, row.id), lookMs);
  const age = lookMs === undefined ? now() - Date.parse(row.created_at) : 0;
  if (!isLost(state, age)) return undefined;
  // A workflow that ends by itself has recorded that first, so this read sees it.
  const seen = await findAssignment(forTenant(pool, tenant), row.id);
  if (seen?.ended_at !== null) return seen;
  // This comes before the record: once the row has ended, nobody checks it again, and this workflow does the rest.
  await reach.start(lostAssignmentStart(tenant, row));
  const ended = await endAssignment(forTenant(pool, tenant), row.id, LOST_END);
  onWrite(tenant, row.origin_session);
  return ended?.row;
}

/** A failure of one sweep does not stop the others, unless a service that all need is unavailable. */
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
