/**
 * Restarts sessions and team tasks whose workflow was ended from outside while their rows say that they continue. Their
 * new run does the rest: a session's run ends the lost turns, a task's run continues from its row.
 */
import { sessionWorkflowId } from '#domain/ids.ts';
import { isLost } from '#domain/turn/lost-work.ts';
import { isClosed } from '#domain/team/team-task.ts';
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
  readonly reach: Pick<WorkflowReach, 'stateOf' | 'start'>;
  readonly now: () => number;
}

export interface LostRuns {
  /** Returns how many were lost. Safe to repeat, also concurrently. @throws Failure */
  sweep(olderThanSeconds: number): Promise<number>;
}

/** Rows checked in one sweep. The next one continues after them, so that rows which wait for weeks hide nothing. */
const PAGE = 500;

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
  });
  return { sweep: async (age) => (await sessions(age)) + (await tasks(age)) };
}

interface WorkflowKind<Row> {
  readonly page: (olderThanSeconds: number, after: Row | undefined) => Promise<readonly Row[]>;
  readonly start: (row: Row) => WorkflowStart;
  /** Whether the row is still open. */
  readonly isOpen: (row: Row) => Promise<boolean>;
}

function sweepOf<Row extends { readonly created_at: Date }>(
  { reach, now }: LostRunsDeps,
  { page, start, isOpen }: WorkflowKind<Row>,
): (olderThanSeconds: number) => Promise<number> {
  let after: Row | undefined;
  return async (olderThanSeconds) => {
    const rows = await page(olderThanSeconds, after);
    let lost = 0;
    for (const row of rows) {
      const again = start(row);
      if (!isLost(await reach.stateOf(again.id), now() - row.created_at.getTime())) continue;
      // A run that ends by itself has recorded that first.
      if (!(await isOpen(row))) continue;
      await reach.start(again);
      lost += 1;
    }
    after = rows.length < PAGE ? undefined : rows.at(-1);
    return lost;
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
