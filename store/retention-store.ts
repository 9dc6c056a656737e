/** How long a tenant keeps its data, and removal of older data. */
import type { RowParts } from './row-parts.ts';
import { sql } from 'kysely';
import type { Retention } from '#domain/forgetting.ts';
import { removeSessionRows } from './forgetting-store.ts';
import { deleteSome, isOlder } from './old-rows.ts';
import type { Pool } from './postgres/pool.ts';
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

/** Limits for a tenant and kind in one sweep, so that concurrent turns do not wait. */
const LIMITS = { events: 20_000, sessions: 50, tasks: 200, ofFeatures: 500 } as const;

/**
 * Removes data that is older than the retention of its tenant, or of the settings. Returns the number of rows and
 * sessions removed. The next sweep continues.
 */
export async function pruneByRetention(pool: Pool, rows: RowParts, settings: Retention): Promise<number> {
  const tenants = await readRows<{ id: string; retention: Retention | null }>(pool)`
    select id, retention from tenants where retention is not null or ${Object.keys(settings).length > 0}`;
  let removed = 0;
  for (const { id, retention } of tenants)
    removed += await pruneTenant(pool, rows, id, { ...settings, ...retention });
  return removed;
}

async function pruneTenant(
  pool: Pool,
  rows: RowParts,
  tenant: string,
  retention: Retention,
): Promise<number> {
  const { events_days, transcripts_days, tasks_days } = retention;
  const isOwn = sql`tenant_id = ${tenant}`;
  let removed = 0;
  if (events_days !== undefined)
    removed += await deleteSome(
      pool,
      'events',
      sql`${isOwn} and ${isOlder('at', events_days)}`,
      LIMITS.events,
    );
  if (transcripts_days !== undefined) removed += await pruneSessions(pool, rows, tenant, transcripts_days);
  if (tasks_days !== undefined) removed += await pruneTasks(forTenant(pool, tenant), tasks_days);
  for (const { days, table, time } of rows.flatMap(({ retained = [] }) => retained)) {
    const limit = retention[days];
    if (limit !== undefined)
      removed += await deleteSome(pool, table, sql`${isOwn} and ${isOlder(time, limit)}`, LIMITS.ofFeatures);
  }
  return removed;
}

/** Sessions without new messages and without running work. Temporal removes their runs by its own retention. */
async function pruneSessions(pool: Pool, rows: RowParts, tenant: string, days: number): Promise<number> {
  const old = await readRows<{ key: string; until: Date }>(pool)`
    select key, now() - make_interval(days => ${days}) as until from sessions s where tenant_id = ${tenant} and ${isOlder('updated_at', days)}
      and not exists (select from turns t where t.tenant_id = s.tenant_id and t.session_key = s.key
        and (t.ended_at is null or ${sql`t.created_at >= now() - make_interval(days => ${days})`}))
      and not exists (select from assignments a where a.tenant_id = s.tenant_id and a.session_key = s.key and a.ended_at is null)
    order by updated_at limit ${LIMITS.sessions}`;
  for (const { key, until } of old)
    await removeSessionRows(pool, rows, tenant, key, until, () => Promise.resolve());
  return old.length;
}

/** Tasks with their audit log, texts, attachments and blockers. */
function pruneTasks(db: TenantDb, days: number): Promise<number> {
  const isOld = sql`t.tenant_id = ${db} and (t.team_key, t.number) in (select team_key, number from old)`;
  return execute(db)`
    with old as (select team_key, number from team_tasks where tenant_id = ${db} and ${isOlder('closed_at', days)}
      limit ${LIMITS.tasks}),
    blockers as (delete from team_task_blockers t where ${isOld}
      or (t.tenant_id = ${db} and (t.team_key, t.blocker) in (select team_key, number from old))),
    events as (delete from team_task_events t where ${isOld}),
    comments as (delete from team_comments t where ${isOld}),
    files as (delete from team_task_files t where ${isOld})
    delete from team_tasks t where ${isOld}`;
}
