/** The state of a task, for the workflow that decides on it. */
import { CLOSED, type LoadedTask, type RecordedState } from '#domain/team/team-task.ts';
import { ofTask, type TaskKey } from './recorded-task.ts';
import { affects, readRow } from '../postgres/statements.ts';
import type { TenantDb, TenantTx } from '../postgres/tenant-db.ts';

type Tenant = TenantDb | TenantTx;

export interface LoadedRow extends Omit<LoadedTask, 'team'> {
  readonly lead: string;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly members: readonly string[];
}

/**
 * The initial state of a run of a task's workflow; `run` is the caller's, if it belongs to the task. The state of its
 * blockers is read again, so that a lost signal of theirs takes effect now. Null when the task does not exist.
 */
export async function loadTask(db: TenantDb, key: TaskKey, run?: string): Promise<LoadedRow | null> {
  const [team, number] = key;
  const found = await readRow<Omit<LoadedRow, 'lost'> & { readonly has_recorded: boolean }>(db)`
    select t.state as task, m.lead, m.settings, case when t.refused > 0 then
         jsonb_build_object('refused', t.refused, 'last_refused', t.last_refused - 'key') end as signals,
       array(select x.agent_key from team_members x where x.tenant_id = ${db} and x.team_key = ${team} order by 1) as members,
       array(select b.number from team_tasks b where b.tenant_id = ${db} and b.team_key = ${team} and b.status = 'completed'
         and t.state -> 'open_blockers' @> to_jsonb(b.number)) as completed,
       -- Its creator's turn is over, whoever was to say so.
       t.origin_turn is null or exists (select 1 from turns o
         where o.tenant_id = ${db} and o.id = t.origin_turn and o.ended_at is not null) as "isOriginClosed",
       exists (select 1 from team_task_events e
         where e.tenant_id = ${db} and e.team_key = ${team} and e.number = ${number} and e.run = ${run}) as has_recorded
     from team_tasks t join teams m on m.tenant_id = t.tenant_id and m.key = t.team_key
     where t.tenant_id = ${db} and t.team_key = ${team} and t.number = ${number}`;
  if (!found) return null;
  const { has_recorded, ...loaded } = found;
  return { ...loaded, lost: has_recorded ? await readRecordedState(db, key, 1, run) : null };
}

/**
 * The state from a revision on, or what one run has recorded, and whom to notify. When it is closed, that is the tasks
 * that wait for it; and when it was the last of its request, the lead. Both belong to the revision that closed it, so
 * that the lead is notified once.
 */
export async function readRecordedState(
  db: Tenant,
  key: TaskKey,
  from: number,
  run?: string,
): Promise<RecordedState> {
  const row = await db
    .selectFrom('team_tasks')
    .select(['state', 'closed_at', 'origin_turn'])
    .where((is) => is.and(ofTask(db, key)))
    .executeTakeFirstOrThrow();
  const changes = await db
    .selectFrom('team_task_events')
    .select(['revision', 'cause', 'notices'])
    .where((is) => is.and(ofTask(db, key)))
    .where('revision', '>=', from)
    .where('refusal', '=', 0)
    .$if(run !== undefined, (events) => events.where('run', '=', run ?? ''))
    .orderBy('revision')
    .execute();
  return {
    task: row.state,
    changes: changes.map(({ notices, ...change }) => ({ ...change, notices: notices ?? [] })),
    notifies_lead: row.closed_at !== null && (await reportsOthers(db, key, row.origin_turn)),
    ...(row.closed_at === null ? { closed_revision: 0, dependents: [] } : await closedAs(db, key)),
  };
}

/** Whether it was the last of its request to be closed, and there is something to report. */
async function reportsOthers(db: Tenant, [team, number]: TaskKey, turn: string | null): Promise<boolean> {
  if (turn === null) return false;
  return affects(db)`select from team_tasks where tenant_id = ${db} and team_key = ${team}
    and origin_turn = ${turn} and announced_by = ${number} limit 1`;
}

async function closedAs(db: Tenant, key: TaskKey) {
  const open = await db
    .selectFrom('team_task_events')
    .select(({ fn }) => fn.max('revision').as('last'))
    .where((is) => is.and(ofTask(db, key)))
    .where('status', 'not in', CLOSED)
    .executeTakeFirst();
  return { closed_revision: (open?.last ?? 0) + 1, dependents: await dependentsOf(db, key) };
}

/** Numbers of the open tasks that wait for it. */
export async function dependentsOf(db: Tenant, [team, number]: TaskKey): Promise<readonly number[]> {
  const rows = await db
    .selectFrom('team_task_blockers as b')
    .innerJoin('team_tasks as t', (on) =>
      on
        .onRef('t.tenant_id', '=', 'b.tenant_id')
        .onRef('t.team_key', '=', 'b.team_key')
        .onRef('t.number', '=', 'b.number'),
    )
    .select('b.number')
    .where((is) => is.and({ 'b.tenant_id': db.tenant, 'b.team_key': team, 'b.blocker': number }))
    .where('t.closed_at', 'is', null)
    .orderBy('b.number')
    .execute();
  return rows.map((row) => row.number);
}
