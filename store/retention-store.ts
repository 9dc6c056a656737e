/** How long a tenant keeps its data, and removal of older data. */
import type { RowParts } from './row-parts.ts';
import { sql } from 'kysely';
import type { Retention } from '#domain/schema/forgetting.ts';
import { removeSessionRows } from './forgetting-store.ts';
import { deleteSome, isOlder } from './old-rows.ts';
import type { Pool } from './postgres/pool.ts';
import { type Removal, removeInTurn } from './remove-in-turn.ts';
import { createSqlCall } from './postgres/sql-call.ts';
import { execute, readRow, readRows } from './postgres/statements.ts';
import { type TenantDb, forTenant } from './postgres/tenant-db.ts';

/** Null when the tenant sets none. */
export async function findRetention(db: TenantDb): Promise<Retention | null> {
  const row = await readRow<{ retention: Retention | null }>(db)`
    select retention from tenants where id = ${db}`;
  return row?.retention ?? null;
}

export async function saveRetention(db: TenantDb, retention: Retention): Promise<void> {
  await execute(db)`update tenants set retention = ${JSON.stringify(retention)} where id = ${db}`;
}

/** Rows or sessions that one transaction removes. */
const BATCHES = { events: 5_000, sessions: 50, tasks: 200, ofFeatures: 500 } as const;

/**
 * Removes data that is older than the retention of its tenant, or of the settings, each tenant in turn. Returns the
 * number of rows and sessions removed. The next sweep continues.
 */
export async function pruneByRetention(pool: Pool, rows: RowParts, settings: Retention): Promise<number> {
  const tenants = await readRows<{ id: string; retention: Retention | null }>(pool)`
    select id, retention from tenants where frozen_at is null and (retention is not null or ${Object.keys(settings).length > 0})`;
  await dropEventMonths(pool, settings);
  return removeInTurn(
    tenants.flatMap(({ id, retention }) => removalsOf(pool, rows, id, { ...settings, ...retention })),
  );
}

/** Months that no tenant keeps are dropped whole, which costs the same for any number of rows. */
async function dropEventMonths(pool: Pool, { events_days: usual }: Retention): Promise<void> {
  const row = await readRow<{ days: number | null }>(pool)`
    select case when bool_and(days is not null) then max(days) end as days from (
      select coalesce((retention ->> 'events_days')::int, ${usual ?? null}::int) as days from tenants) kept`;
  await createSqlCall(pool)('keep_event_months', [row?.days ?? null]);
}

function removalsOf(pool: Pool, rows: RowParts, tenant: string, retention: Retention): readonly Removal[] {
  const { events_days: events, transcripts_days: transcripts, tasks_days: tasks } = retention;
  const isOwn = sql`tenant_id = ${tenant}`;
  const olderRows = (table: string, time: string, days: number, batch: number): Removal => ({
    batch,
    remove: (max) => deleteSome(pool, table, sql`${isOwn} and ${isOlder(time, days)}`, max),
  });
  return [
    events !== undefined && olderRows('events', 'at', events, BATCHES.events),
    transcripts !== undefined && {
      batch: BATCHES.sessions,
      remove: (max: number) => pruneSessions(pool, rows, tenant, transcripts, max),
    },
    tasks !== undefined && {
      batch: BATCHES.tasks,
      remove: (max: number) => pruneTasks(forTenant(pool, tenant), tasks, max),
    },
    ...rows.flatMap(({ retained = [] }) =>
      retained.map(({ days, table, time }) => {
        const limit = retention[days];
        return limit !== undefined && olderRows(table, time, limit, BATCHES.ofFeatures);
      }),
    ),
  ].filter((removal) => removal !== false);
}

/** Sessions without new messages and without running work. Temporal removes their runs by its own retention. */
async function pruneSessions(
  pool: Pool,
  rows: RowParts,
  tenant: string,
  days: number,
  max: number,
): Promise<number> {
  const old = await readRows<{ key: string; until: Date }>(pool)`
    select key, now() - make_interval(days => ${days}) as until from sessions s where tenant_id = ${tenant} and ${isOlder('updated_at', days)}
      and not exists (select from turns t where t.tenant_id = s.tenant_id and t.session_key = s.key
        and (t.ended_at is null or ${sql`t.created_at >= now() - make_interval(days => ${days})`}))
      and not exists (select from assignments a where a.tenant_id = s.tenant_id and a.session_key = s.key and a.ended_at is null)
    order by updated_at limit ${max}`;
  for (const { key, until } of old)
    await removeSessionRows(pool, rows, tenant, key, until, () => Promise.resolve());
  return old.length;
}

/** Tasks with their audit log, texts, attachments and blockers. */
function pruneTasks(db: TenantDb, days: number, max: number): Promise<number> {
  const isOld = sql`t.tenant_id = ${db} and (t.team_key, t.number) in (select team_key, number from old)`;
  return execute(db)`
    with old as (select team_key, number from team_tasks where tenant_id = ${db} and ${isOlder('closed_at', days)}
      limit ${max}),
    blockers as (delete from team_task_blockers t where ${isOld}
      or (t.tenant_id = ${db} and (t.team_key, t.blocker) in (select team_key, number from old))),
    events as (delete from team_task_events t where ${isOld}),
    comments as (delete from team_comments t where ${isOld}),
    files as (delete from team_task_files t where ${isOld})
    delete from team_tasks t where ${isOld}`;
}
