/**
 * Restarts sessions and team tasks whose workflow was ended from outside while their rows say that they continue. Their
 * new run does the rest: a session's run ends the lost turns, a task's run continues from its row. A task whose creating
 * turn has ended is released again, if the signal was lost.
 */
import { createConcurrencyLimit } from '#domain/async/concurrency-limit.ts';
import { sessionWorkflowId } from '#domain/ids.ts';
import { isLost } from '#domain/turn/lost-work.ts';
import { isClosed, TEAM_TASK } from '#domain/team/team-task.ts';
import { AGENT_TURN } from '#domain/turn/turn.ts';
import type { WorkflowReach, WorkflowStart } from '#domain/workflow-reach.ts';
import { type OpenSession, openSessions, type OpenTask, openTasks } from '#store/turns/open-work.ts';
import type { Pool } from '#store/postgres/pool.ts';
import { findTask } from '#store/teams/team-task-store.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { findOpenTurn } from '#store/turns/turn-store.ts';
import { taskStart } from './team-board.ts';

export interface LostRunsDeps {
  readonly pool: Pool;
  readonly reach: Pick<WorkflowReach, 'stateOf' | 'start' | 'signalWithStart'>;
  readonly now: () => number;
}

export interface LostRuns {
  /** Returns how many were lost. Safe to repeat, also concurrently. @throws Failure */
  sweep(olderThanSeconds: number): Promise<number>;
}

/** Rows read at a time. */
const PAGE = 500;

/** Rows checked at the same time: each is a request to Temporal. */
const MAX_CHECKS = 16;

export function createLostRuns(deps: LostRunsDeps): LostRuns {
  const { pool } = deps;
  const sessions = sweepOf<OpenSession>(deps, {
    page: (age, after) => openSessions(pool, age, after, PAGE),
    start: sessionStart,
    isOpen: async ({ tenant_id, session_key }) =>
      (await findOpenTurn(forTenant(pool, tenant_id), session_key)) !== undefined,
  });
  const tasks = sweepOf<OpenTask>(deps, {
    page: (age, after) => openTasks(pool, age, after, PAGE),
    start: ({ tenant_id, team_key, number }) => taskStart(tenant_id, team_key, number),
    async isOpen({ tenant_id, team_key, number }) {
      const task = await findTask(forTenant(pool, tenant_id), team_key, number);
      return task !== undefined && !isClosed(task.status);
    },
    isUnreleased: ({ is_unreleased }) => is_unreleased,
  });
  return { sweep: async (age) => (await sessions(age)) + (await tasks(age)) };
}

interface WorkflowKind<Row> {
  readonly page: (olderThanSeconds: number, after: Row | undefined) => Promise<readonly Row[]>;
  readonly start: (row: Row) => WorkflowStart;
  /** Whether the row is still open. */
  readonly isOpen: (row: Row) => Promise<boolean>;
  /** It waits for a signal that was lost with the server that had accepted it. */
  readonly isUnreleased?: (row: Row) => boolean;
}

function sweepOf<Row extends { readonly created_at: Date }>(
  { reach, now }: LostRunsDeps,
  { page, start, isOpen, isUnreleased }: WorkflowKind<Row>,
): (olderThanSeconds: number) => Promise<number> {
  const isLostNow = async (row: Row): Promise<boolean> => {
    const again = start(row);
    if (isUnreleased?.(row)) {
      await reach.signalWithStart(again, TEAM_TASK.signals.released, {});
      return false;
    }
    if (!isLost(await reach.stateOf(again.id), now() - row.created_at.getTime())) return false;
    // A run that ends by itself has recorded that first.
    if (!(await isOpen(row))) return false;
    await reach.start(again);
    return true;
  };
  return async (olderThanSeconds) => {
    const limit = createConcurrencyLimit(MAX_CHECKS);
    let lost = 0;
    for (let after: Row | undefined; ; ) {
      const rows = await page(olderThanSeconds, after);
      const found = await Promise.all(rows.map((row) => limit.pass('check', () => isLostNow(row))));
      lost += found.filter(Boolean).length;
      after = rows.at(-1);
      if (rows.length < PAGE || !after) return lost;
    }
  };
}

function sessionStart({
  tenant_id: tenant,
  session_key: session,
  agent_key: agent,
}: OpenSession): WorkflowStart {
  return {
    type: AGENT_TURN.type,
    id: sessionWorkflowId(tenant, session),
    input: {
      tenant,
      session_key: session,
      lost: true,
    },
    summary: `${agent}: lost turns of ${session}`,
    tenant,
    session,
    agent,
  };
}
