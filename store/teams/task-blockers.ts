/** The tasks that a task waits for. */
import { sql } from 'kysely';
import { openStatus } from '#domain/team/lead-actions.ts';
import { BLOCKER_WORDS, openBlockers } from '#domain/team/new-task.ts';
import type { TaskChange, TaskState } from '#domain/team/team-task.ts';
import { ofTask, type TaskKey } from './recorded-task.ts';
import type { TenantTx } from '../postgres/tenant-db.ts';

/** The task with its new blockers, which are written; or why it cannot have them. */
export async function withBlockers(
  tx: TenantTx,
  key: TaskKey,
  { task, blocked_by }: TaskChange,
): Promise<TaskState | string> {
  if (!blocked_by) return task;
  const [team, number] = key;
  const requests = [...new Set(blocked_by)];
  const open_blockers = openBlockers(requests, await tasksWithNumbers(tx, team, requests));
  if (!open_blockers) return BLOCKER_WORDS.unknown;
  const { rows } = await sql`
    with recursive before (number) as (
      select unnest(${requests}::int[])
      union select b.blocker from team_task_blockers b join before x on b.number = x.number
        where b.tenant_id = ${tx} and b.team_key = ${team})
    select 1 from before where number = ${number}`.execute(tx);
  if (rows.length > 0) return BLOCKER_WORDS.cycle;
  await tx
    .deleteFrom('team_task_blockers')
    .where((is) => is.and(ofTask(tx, key)))
    .execute();
  await insertBlockers(tx, key, requests);
  return { ...task, open_blockers, status: openStatus({ open_blockers }) };
}

export function tasksWithNumbers(tx: TenantTx, team: string, numbers: readonly number[]) {
  return tx
    .selectFrom('team_tasks')
    .select(['number', 'status'])
    .where((is) => is.and({ tenant_id: tx.tenant, team_key: team }))
    .where('number', '=', sql<number>`any (${numbers}::int[])`)
    .execute();
}

export async function insertBlockers(tx: TenantTx, key: TaskKey, blockers: readonly number[]): Promise<void> {
  if (blockers.length === 0) return;
  const rows = blockers.map((blocker) => ({ ...ofTask(tx, key), blocker }));
  await tx.insertInto('team_task_blockers').values(rows).execute();
}
