/** The feed of a session as readers see it; the SQL function `append_events` writes it. */
import type { EventType, StoredEvent } from '#domain/event.ts';
import type { Pool } from './postgres/pool.ts';
import type { ApprovalRow } from './approvals/approval-store.ts';
import { readRow, readRows } from './postgres/statements.ts';
import type { TenantDb } from './postgres/tenant-db.ts';

interface EventRow {
  readonly id: string;
  readonly type: EventType;
  readonly turn_id: string | null;
  readonly data: Record<string, unknown>;
  readonly at: Date;
}

/** Events after an id, oldest first. */
export async function readEvents(
  db: TenantDb,
  session: string,
  after: number,
  limit: number,
): Promise<StoredEvent[]> {
  const rows = await readRows<EventRow>(db)`select id, type, turn_id, data, at from events
     where tenant_id = ${db} and session_key = ${session} and id > ${after} order by id limit ${limit}`;
  return rows.map((row) => ({
    id: Number(row.id),
    type: row.type,
    session_key: session,
    turn_id: row.turn_id ?? undefined,
    at: row.at.toISOString(),
    data: row.data,
  }));
}

/** The oldest stored id: a session's ids have no gaps. Undefined when there are none. */
export async function firstEventId(db: TenantDb, session: string): Promise<number | undefined> {
  const [row] = await readRows<{ id: string | null }>(db)`
    select min(id) as id from events where tenant_id = ${db} and session_key = ${session}`;
  return row?.id ? Number(row.id) : undefined;
}

export interface SessionFeed {
  readonly tenant: string;
  readonly session: string;
  /** The id of its newest event. */
  readonly last: number;
  readonly user: string | null;
}

/** The newest ids of many sessions at once, and whose they are. Sessions that do not exist are left out. */
export async function readLastEventIds(
  pool: Pool,
  sessions: readonly { readonly tenant: string; readonly session: string }[],
): Promise<readonly SessionFeed[]> {
  const rows = await readRows<{ tenant_id: string; key: string; event_seq: string; user_id: string | null }>(
    pool,
  )`
    select s.tenant_id, s.key, s.event_seq, s.user_id from unnest(${sessions.map((one) => one.tenant)}::text[],
      ${sessions.map((one) => one.session)}::text[]) as w (tenant, session)
     join sessions s on s.tenant_id = w.tenant and s.key = w.session`;
  return rows.map((row) => ({
    tenant: row.tenant_id,
    session: row.key,
    last: Number(row.event_seq),
    user: row.user_id,
  }));
}

/** The event of the session with which an approval was decided; undefined while it waits. */
export async function decidedAt(
  db: TenantDb,
  { id, session_key, status }: Pick<ApprovalRow, 'id' | 'session_key' | 'status'>,
): Promise<number | undefined> {
  if (status === 'pending') return undefined;
  const row = await readRow<{ id: string | null }>(db)`
    select max(id) as id from events where tenant_id = ${db} and session_key = ${session_key}
      and type = 'approval.decided' and data ->> 'approval_id' = ${id}`;
  return row?.id ? Number(row.id) : undefined;
}

/** The last event of the session before a turn's first one. */
export async function turnBeganAfter(db: TenantDb, session: string, turn: string): Promise<number> {
  const row = await readRow<{ id: string | null }>(db)`
    select min(id) - 1 as id from events where tenant_id = ${db} and session_key = ${session} and turn_id = ${turn}`;
  return Number(row?.id ?? 0);
}
