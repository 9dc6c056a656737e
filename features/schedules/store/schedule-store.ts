/**
 * Stores schedules and their runs. A writer of one holds its row's lock; the updater of its Temporal Schedule has a
 * lease, and no lock.
 */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { HeartbeatSettings } from '../contract/heartbeat.ts';
import { SCHEDULE_LIMITS, type ScheduleRights } from '../contract/schedule.ts';
import type { Timing } from '../schema/schedule.ts';
import { nextInstants } from '../rules/instants.ts';
import type { Pool } from '#store/postgres/pool.ts';
import type { Db } from '#store/postgres/database.ts';
import {
  affects,
  below,
  execute,
  type PageEnd,
  readRow,
  readRows,
  type RowOf,
} from '#store/postgres/statements.ts';
import type { TenantDb, TenantTx } from '#store/postgres/tenant-db.ts';
import { inTenantLock, inTransaction } from '#store/postgres/transaction.ts';
import { IS_THAWED } from '#store/tenant-freeze.ts';

type Times = 'planned_until' | 'next_at' | 'created_at' | 'updated_at' | 'deleted_at';

export interface ScheduleRow
  extends RowOf<'schedules', Times | 'planner' | 'planner_until' | 'rights' | 'timing' | 'heartbeat'> {
  readonly timing: Timing;
  /** Null for a plain schedule. */
  readonly heartbeat: HeartbeatSettings | null;
  readonly rights: ScheduleRights;
  readonly planned_until: Date | null;
  readonly next_at: Date | null;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly deleted_at: Date | null;
  /** `created_at` to the microsecond, for cursors. */
  readonly created_text: string;
  /** The database's time, so that one clock decides. */
  readonly now: Date;
}

export type ScheduleFields = Pick<
  ScheduleRow,
  | 'name'
  | 'agent_key'
  | 'user_id'
  | 'message'
  | 'timing'
  | 'session_key'
  | 'delete_after_run'
  | 'enabled'
  | 'overlap'
  | 'catchup_seconds'
  | 'rights'
  | 'heartbeat'
>;

const ROW = sql`schedules.*, created_at::text as created_text, clock_timestamp() as now`;

/**
 * Returns the row, new or existing with this id; `full` when the agent or the tenant has its maximum, undefined when
 * the name is taken.
 */
export function insertSchedule(
  db: TenantDb,
  fields: ScheduleFields & Pick<ScheduleRow, 'id' | 'created_by'>,
): Promise<ScheduleRow | 'full' | undefined> {
  return inTenantLock(db, async (tx) => {
    const old = await readSchedule(tx, fields.id);
    if (old) return old;
    const counts = await readRow<{ all: number; own: number }>(tx)`
      select count(*)::int as all, (count(*) filter (where agent_key = ${fields.agent_key}))::int as own
      from schedules where tenant_id = ${tx} and deleted_at is null`;
    const { all = 0, own = 0 } = counts ?? {};
    if (all >= SCHEDULE_LIMITS.perTenant || own >= SCHEDULE_LIMITS.perAgent) return 'full';
    const { rights, timing, heartbeat, ...plain } = fields;
    await tx
      .insertInto('schedules')
      .values({
        tenant_id: db.tenant,
        ...plain,
        rights: JSON.stringify(rights),
        timing: JSON.stringify(timing),
        heartbeat: heartbeat && JSON.stringify(heartbeat),
      })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    await expectFromNow(tx, fields.id);
    return readSchedule(tx, fields.id);
  });
}

/**
 * `change` returns the new values; runs that were due before are not made up for. Returns undefined when there is no
 * such row.
 */
export function updateSchedule(
  db: TenantDb,
  id: string,
  change: (row: ScheduleRow) => ScheduleFields,
): Promise<ScheduleRow | undefined> {
  return inTransaction(db, async (tx) => {
    const row = await lockSchedule(tx, id);
    if (!row || row.deleted_at) return undefined;
    const { rights, timing, heartbeat, ...plain } = change(row);
    await tx
      .updateTable('schedules')
      .set({
        ...plain,
        rights: JSON.stringify(rights),
        timing: JSON.stringify(timing),
        heartbeat: heartbeat && JSON.stringify(heartbeat),
        revision: row.revision + 1,
        updated_at: row.now,
      })
      .where('tenant_id', '=', db.tenant)
      .where('id', '=', id)
      .execute();
    await expectFromNow(tx, id);
    return readSchedule(tx, id);
  });
}

async function expectFromNow(tx: TenantTx, id: string): Promise<void> {
  const row = await readSchedule(tx, id);
  const next = row?.enabled ? nextInstants(row.timing, row.now, 1)[0] : undefined;
  await execute(tx)`update schedules set next_at = ${next} where tenant_id = ${tx} and id = ${id}`;
}

/** For a transaction that changes it, or starts a run of it. */
export function lockSchedule(tx: TenantTx, id: string): Promise<ScheduleRow | undefined> {
  return readRow<ScheduleRow>(tx)`
    select ${ROW} from schedules where tenant_id = ${tx} and id = ${id} for update`;
}

/** Reads a schedule of any kind. */
export function readSchedule(db: TenantDb<Db>, id: string): Promise<ScheduleRow | undefined> {
  return readRow<ScheduleRow>(db)`
    select ${ROW} from schedules where tenant_id = ${db} and id = ${id} and deleted_at is null`;
}

/** Whose schedules; undefined for anybody's, null for those of no user. Heartbeats are not included. */
export interface ScheduleFilter {
  readonly agent?: string | undefined;
  readonly name?: string | undefined;
  readonly user?: string | null | undefined;
}

/** The heartbeat of an agent and its user; null means of no user. */
export function findHeartbeat(
  db: TenantDb,
  agent: string,
  user: string | null,
): Promise<ScheduleRow | undefined> {
  return readRow<ScheduleRow>(db)`
    select ${ROW} from schedules where tenant_id = ${db} and agent_key = ${agent} and user_id is not distinct from ${user}
      and heartbeat is not null and deleted_at is null`;
}

export async function findSchedule(
  db: TenantDb,
  id: string,
  { agent, user }: ScheduleFilter,
): Promise<ScheduleRow | undefined> {
  const row = await readSchedule(db, id);
  const isTheirs =
    row?.heartbeat === null &&
    (agent === undefined || row.agent_key === agent) &&
    (user === undefined || row.user_id === user);
  return isTheirs ? row : undefined;
}

/** Lists the newest first. */
export function listSchedules(
  db: TenantDb,
  { agent, name, user }: ScheduleFilter,
  limit: number,
  after: PageEnd | undefined,
): Promise<ScheduleRow[]> {
  return readRows<ScheduleRow>(db)`
    select ${ROW} from schedules where tenant_id = ${db} and deleted_at is null and heartbeat is null
      and (${agent}::text is null or agent_key = ${agent}) and (${name}::text is null or name = ${name}) and (${user === undefined} or user_id is not distinct from ${user})
      ${below('created_at', 'id', after)}
    order by created_at desc, id limit ${limit}`;
}

/** It no longer runs; the row is deleted after its Temporal Schedule. */
export function deleteSchedule(db: TenantDb, id: string): Promise<boolean> {
  return affects(db)`update schedules set deleted_at = clock_timestamp()
    where tenant_id = ${db} and id = ${id} and deleted_at is null`;
}

/** Schedules of a user, or those that were made or are posted in a session. */
export async function schedulesOf(
  db: TenantDb,
  of: { readonly user?: string; readonly session?: string },
): Promise<readonly string[]> {
  const rows = await readRows<{ id: string }>(db)`select id from schedules
    where tenant_id = ${db} and (user_id = ${of.user} or session_key = ${of.session}
      or rights ->> 'session' = ${of.session})`;
  return rows.map(({ id }) => id);
}

// ---- its Temporal Schedule ------------------------------------------------------------------------------------------

/** Seconds after which a run that nothing has taken is searched for. */
const OVERDUE = 60;

/**
 * Schedules of all tenants whose Temporal Schedule differs from the row, has few instants left, or did not start a run.
 */
export function schedulesToPlan(
  pool: Pool,
): Promise<(Pick<ScheduleRow, 'id' | 'agent_key' | 'name'> & { readonly tenant_id: string })[]> {
  return readRows<Pick<ScheduleRow, 'id' | 'agent_key' | 'name'> & { tenant_id: string }>(pool)`
    select tenant_id, id, agent_key, name from schedules where ${IS_THAWED} and (deleted_at is not null
      or planned is distinct from revision
      or next_at < now() - make_interval(secs => ${OVERDUE})
      or enabled and planned_until < now() + interval '10 minutes' and next_at is not null and planned_until is distinct from next_at)
    limit 500`;
}

/** Longer than `follow` waits for Temporal. */
const PLANNING_SECONDS = 30;

/**
 * `follow` makes the Temporal Schedule as the row says and returns its last instant; a deleted row is removed. One
 * process at a time does it, again when the row has changed, so that an older row never follows a newer one. Returns
 * false when another process does it, which also handles this change. No lock is held during requests to Temporal.
 */
export async function planSchedule(
  db: TenantDb,
  id: string,
  follow: (row: ScheduleRow) => Promise<Date | null>,
): Promise<boolean> {
  const planner = randomUUID();
  try {
    for (;;) {
      const row = await readRow<ScheduleRow>(db)`
        update schedules set planner = ${planner}, planner_until = clock_timestamp() + make_interval(secs => ${PLANNING_SECONDS})
        where tenant_id = ${db} and id = ${id} and (planner is null or planner = ${planner} or planner_until < clock_timestamp())
        returning ${ROW}`;
      if (!row) return !(await isThere(db, id));
      const until = await follow(row);
      if (await notePlanned(db, row, planner, until)) return true;
    }
  } catch (error) {
    // If this fails too, the lease ends by itself.
    await execute(db)`update schedules set planner = null
      where tenant_id = ${db} and id = ${id} and planner = ${planner}`.catch(() => undefined);
    throw error;
  }
}

function isThere(db: TenantDb, id: string): Promise<boolean> {
  return affects(db)`select from schedules where tenant_id = ${db} and id = ${id}`;
}

/** Returns false when the row has changed, or its lease was lost. */
function notePlanned(
  db: TenantDb,
  { id, revision, deleted_at }: ScheduleRow,
  planner: string,
  until: Date | null,
): Promise<boolean> {
  if (deleted_at)
    return affects(db)`delete from schedules where tenant_id = ${db} and id = ${id} and planner = ${planner}`;
  return affects(db)`update schedules set planned = revision, planned_until = ${until}, planner = null
    where tenant_id = ${db} and id = ${id} and planner = ${planner} and revision = ${revision} and deleted_at is null`;
}

/**
 * Instants that no run has taken and that are not too late, oldest first. The row then expects what follows the present
 * ones.
 */
export function missedInstants(db: TenantDb, id: string): Promise<readonly Date[]> {
  return inTransaction(db, async (tx) => {
    const row = await lockSchedule(tx, id);
    if (!row?.next_at || !row.enabled || row.deleted_at) return [];
    const { next_at: next, now, timing, catchup_seconds: catchup } = row;
    if (next.getTime() > now.getTime() - OVERDUE * 1000) return [];
    const from = new Date(Math.max(next.getTime(), now.getTime() - catchup * 1000) - 1);
    const missed = nextInstants(timing, from, SCHEDULE_LIMITS.madeUp).filter((at) => at <= now);
    const first = nextInstants(timing, from, 1)[0];
    await execute(tx)`update schedules set next_at = ${first} where tenant_id = ${tx} and id = ${id}`;
    return missed;
  });
}
