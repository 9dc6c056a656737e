/** Freezes, and the turns that they hold back. */
import { sql } from 'kysely';
import type { StartingWork } from '#activities/guards.ts';
import { noteChange } from '#store/postgres/change-feed.ts';
import { readRow, readRows } from '#store/postgres/statements.ts';
import type { TenantDb } from '#store/postgres/tenant-db.ts';
import { inTenantLock, inTransaction } from '#store/postgres/transaction.ts';
import { appendEvents, lockSession } from '#store/turns/session-writes.ts';
import { MAX_FREEZES } from './resource.ts';

export interface NewFreeze {
  readonly id: string;
  readonly reason: string;
  readonly agent: string | null;
  readonly revision: number | null;
  readonly tools: readonly string[] | null;
}

export interface FreezeRow extends NewFreeze {
  readonly created_by: string;
  readonly created_at: Date;
  /** `created_at` to the microsecond, for cursors. */
  readonly created_text: string;
  readonly lifted_by: string | null;
  readonly lifted_at: Date | null;
}

const COLUMNS = sql`id, reason, agent_key as agent, agent_revision as revision, tools, created_by, created_at, created_at::text as created_text,
  lifted_by, lifted_at`;

/** Undefined when the tenant has too many in force. The same id again stays unchanged. Notifies every worker. */
export function insertFreeze(db: TenantDb, freeze: NewFreeze, by: string): Promise<FreezeRow | undefined> {
  const { id, reason, agent, revision, tools } = freeze;
  return inTenantLock(
    db,
    (tx) => readRow<FreezeRow>(tx)`
    with made as (
       insert into freezes (tenant_id, id, reason, agent_key, agent_revision, tools, created_by)
       select ${tx}, ${id}, ${reason}, ${agent}, ${revision}, ${tools}::text[], ${by}
       where (select count(*) from freezes where tenant_id = ${tx} and lifted_at is null and id <> ${id}) < ${MAX_FREEZES}
       on conflict (tenant_id, id) do update set id = excluded.id
       returning *),
     ${noteChange(db.tenant, 'freezes', 'made')}
     select ${COLUMNS} from made, noted`,
  );
}

/** Undefined when there is none. The first time counts. Notifies every worker. */
export function liftFreeze(db: TenantDb, id: string, by: string): Promise<FreezeRow | undefined> {
  return readRow<FreezeRow>(db)`
    with lifted as (
       update freezes set lifted_at = coalesce(lifted_at, now()), lifted_by = coalesce(lifted_by, ${by})
       where tenant_id = ${db} and id = ${id} returning *),
     ${noteChange(db.tenant, 'freezes', 'lifted')}
     select ${COLUMNS} from lifted, noted`;
}

/** The newest first. */
export function listFreezes(
  db: TenantDb,
  limit: number,
  [time, id]: readonly [time: string, id: string] = ['infinity', ''],
): Promise<FreezeRow[]> {
  return readRows<FreezeRow>(db)`
    select ${COLUMNS} from freezes where tenant_id = ${db} and (created_at, id) < (${time}::timestamptz, ${id})
     order by created_at desc, id desc limit ${limit}`;
}

export function freezesInForce(db: TenantDb): Promise<FreezeRow[]> {
  return readRows<FreezeRow>(db)`
    select ${COLUMNS} from freezes where tenant_id = ${db} and lifted_at is null order by created_at, id`;
}

/** Whether the agent has, or has had, this revision. */
export async function hasRevision(db: TenantDb, agent: string, revision: number): Promise<boolean> {
  const row = await readRow<{ exists: boolean }>(db)`
    select exists (select from agent_revisions
      where tenant_id = ${db} and agent_key = ${agent} and revision = ${revision})`;
  return row?.exists === true;
}

export interface TurnOfWork {
  readonly id: string;
  readonly session: string;
  readonly agent: string;
  /** Before the turn's first step, the one that it would get now; null when there is no such agent. */
  readonly revision: number | null;
}

/** Undefined when it is not there any more. */
export function findTurnOf(db: TenantDb, of: StartingWork['of']): Promise<TurnOfWork | undefined> {
  const id =
    'turn' in of
      ? sql`${of.turn}`
      : sql`(select turn_id from tool_calls where tenant_id = ${db.tenant} and id = ${of.call})`;
  return readRow<TurnOfWork>(db)`
    select t.id, t.session_key as session, t.agent_key as agent, coalesce(t.agent_revision, revision_of_session(t.tenant_id, t.session_key), a.revision) as revision
     from turns t left join agents a on a.tenant_id = t.tenant_id and a.key = t.agent_key
     where t.tenant_id = ${db} and t.id = ${id}`;
}

/** Tells the turn's readers once why it waits. */
export function noteHeld(
  db: TenantDb,
  { id: turn, session }: TurnOfWork,
  { id, reason }: Pick<NewFreeze, 'id' | 'reason'>,
): Promise<void> {
  return inTransaction(db, async (tx) => {
    await lockSession(tx, session);
    const known = await readRow(tx)`
      select 1 from events where tenant_id = ${tx} and session_key = ${session} and turn_id = ${turn}
        and type = 'turn.held' and data ->> 'freeze_id' = ${id} limit 1`;
    if (!known)
      await appendEvents(tx, { session, turn }, [{ type: 'turn.held', data: { freeze_id: id, reason } }]);
  });
}
