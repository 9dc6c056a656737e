/** What of a frozen tenant is still under way, and how its sessions go on. */
import { sql } from 'kysely';
import type { AssignmentKind } from '#domain/ids.ts';
import { execute, readRow, readRows } from '#store/postgres/statements.ts';
import type { TenantDb, TenantTx } from '#store/postgres/tenant-db.ts';
import { inTransaction } from '#store/postgres/transaction.ts';
import type { MovedRows, UnderWay } from '../moved-rows.ts';

export interface OpenSession {
  readonly session_key: string;
  /** It works for another session or for a team, whose workflow waits for it. */
  readonly is_bound: boolean;
  /** Turns that have started and not ended. */
  readonly turns: readonly string[];
  /** A call has been decided, and its run does not know yet. */
  readonly is_decided: boolean;
}

export function listOpenSessions(db: TenantDb): Promise<OpenSession[]> {
  return readRows<OpenSession>(db)`
    select t.session_key, s.bound_context is not null as is_bound,
      coalesce(array_agg(t.id) filter (where t.status <> 'queued'), '{}') as turns,
      bool_or(exists (select from tool_calls c join approvals a on a.tenant_id = c.tenant_id and a.id = coalesce(c.form_id, c.approval_id)
        where c.tenant_id = t.tenant_id and c.turn_id = t.id and c.state <> 'done' and a.status <> 'pending')) as is_decided
    from turns t join sessions s on s.tenant_id = t.tenant_id and s.key = t.session_key
    where t.tenant_id = ${db} and t.ended_at is null group by 1, 2 order by 1`;
}

export interface OpenAssignment {
  readonly kind: AssignmentKind;
  readonly id: string;
}

export function listOpenAssignments(db: TenantDb): Promise<OpenAssignment[]> {
  return readRows<OpenAssignment>(db)`
    select kind, id from assignments where tenant_id = ${db} and ended_at is null order by created_at, id`;
}

export interface OpenTask {
  readonly team_key: string;
  readonly number: number;
}

/** Of teams that exist. */
export function listOpenTasks(db: TenantDb): Promise<OpenTask[]> {
  return readRows<OpenTask>(db)`
    select t.team_key, t.number from team_tasks t
    join teams m on m.tenant_id = t.tenant_id and m.key = t.team_key and m.deleted_at is null
    where t.tenant_id = ${db} and t.status not in ('completed', 'failed', 'cancelled')`;
}

export async function listPendingApprovals(db: TenantDb): Promise<string[]> {
  const rows = await readRows<{ id: string }>(db)`
    select id from approvals where tenant_id = ${db} and status = 'pending'`;
  return rows.map(({ id }) => id);
}

export async function countUnderWay(db: TenantDb, { table, where }: UnderWay): Promise<number> {
  const row = await readRow<{ n: number }>(db)`
    select count(*)::int as n from ${sql.table(table)} where tenant_id = ${db} and ${where}`;
  return row?.n ?? 0;
}

export interface NewParkedSession {
  readonly session: string;
  readonly sealed: string;
  readonly keyId: string;
}

/** Replaces what was parked of these sessions. */
export async function writeParked(db: TenantDb, sessions: readonly NewParkedSession[]): Promise<void> {
  await inTransaction(db, async (tx) => {
    for (const { session, sealed, keyId } of sessions)
      await execute(tx)`
        insert into parked_sessions (tenant_id, session_key, sealed, key_id)
        values (${tx}, ${session}, ${sealed}, ${keyId})
        on conflict (tenant_id, session_key) do update set sealed = excluded.sealed, key_id = excluded.key_id`;
  });
}

/** Makes the rows those of a tenant of which nothing runs. Safe to repeat. */
export async function writeStill(db: TenantDb, moved: readonly MovedRows[]): Promise<void> {
  for (const change of moved.flatMap((rows) => rows.parked?.(db.tenant) ?? [])) await execute(db)`${change}`;
}

export interface ParkedRow {
  readonly session_key: string;
  readonly sealed: string;
  /** Null for a session of which no turn has begun. */
  readonly agent: string | null;
  readonly user: string | null;
}

export function listParked(db: TenantDb): Promise<ParkedRow[]> {
  return readRows<ParkedRow>(db)`
    select p.session_key, p.sealed, s.agent_key as agent, s.user_id as user
    from parked_sessions p left join sessions s on s.tenant_id = p.tenant_id and s.key = p.session_key
    where p.tenant_id = ${db} order by p.session_key`;
}

/** Its sessions go on. What processes remember of the tenant may be older than its rows, so they read it again. */
export async function deleteParked(tx: TenantTx): Promise<void> {
  await execute(tx)`delete from parked_sessions where tenant_id = ${tx}`;
  await execute(tx)`
    update changes set version = version + 1, changed_at = clock_timestamp() where tenant_id = ${tx}`;
}
