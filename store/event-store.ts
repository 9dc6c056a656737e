/** The feed of a session as readers see it; the SQL function `append_events` writes it. */
import type { EventType, StoredEvent } from '#domain/event.ts';
import type { Pool } from './postgres/pool.ts';
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

/** Where an approval was asked for: in the uppermost session that waits for it. */
export interface ApprovalRequest {
  readonly session: string;
  readonly turn: string;
  /** The session's event with which it was decided; undefined while it waits. */
  readonly decided: number | undefined;
  /** The session's last event. */
  readonly last: number;
}

/** Sessions on the way up; work goes less deep. */
const MAX_DEPTH = 20;

/** `session` made the call. */
export async function findRequest(
  db: TenantDb,
  session: string,
  approval: string,
): Promise<ApprovalRequest | undefined> {
  const row = await readRow<{ session: string; turn: string; decided: string | null; last: string }>(db)`
    with recursive chain (key, depth) as (
      select ${session}::text, 0 union select giver_of(${db}, chain.key), depth + 1 from chain where chain.key is not null and depth < ${MAX_DEPTH})
    select e.session_key as session, e.turn_id as turn, s.event_seq as last, (select max(d.id) from events d
        where d.tenant_id = ${db} and d.session_key = e.session_key and d.type = 'approval.decided'
          and d.data ->> 'approval_id' = ${approval}) as decided
      from chain join events e on e.tenant_id = ${db} and e.session_key = chain.key and e.type = 'approval.requested'
        and e.data ->> 'approval_id' = ${approval}
      join sessions s on s.tenant_id = ${db} and s.key = e.session_key
      order by chain.depth desc, e.id limit 1`;
  if (!row) return undefined;
  const { decided, last, ...place } = row;
  return { ...place, decided: decided === null ? undefined : Number(decided), last: Number(last) };
}

/** The event of the session after which all of a turn's are. */
export async function turnBeganAfter(db: TenantDb, session: string, turn: string): Promise<number> {
  const row = await readRow<{ id: string }>(db)`
    select coalesce((select min(id) - 1 from events e where e.tenant_id = ${db} and e.session_key = ${session}
      and e.turn_id = ${turn}), s.event_seq) as id from sessions s where s.tenant_id = ${db} and s.key = ${session}`;
  return Number(row?.id ?? 0);
}
