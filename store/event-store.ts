/** The feed of a session as readers see it; `append_events` of the schema writes it. */
import type { EventType, StoredEvent } from '#domain/event.ts';
import type { Pool } from './pool.ts';

interface EventRow {
  readonly id: string;
  readonly type: EventType;
  readonly turn_id: string | null;
  readonly data: Record<string, unknown>;
  readonly at: Date;
}

/** Events after an id, oldest first. */
export async function readEvents(
  pool: Pool,
  tenant: string,
  session: string,
  after: number,
  limit: number,
): Promise<StoredEvent[]> {
  const { rows } = await pool.query<EventRow>(
    `select id, type, turn_id, data, at from events
     where tenant_id = $1 and session_key = $2 and id > $3 order by id limit $4`,
    [tenant, session, after, limit],
  );
  return rows.map((row) => ({
    id: Number(row.id),
    type: row.type,
    session_key: session,
    turn_id: row.turn_id ?? undefined,
    at: row.at.toISOString(),
    data: row.data,
  }));
}

/** The oldest id that is kept and the newest; undefined when there is no such session. */
export async function findEventRange(
  pool: Pool,
  tenant: string,
  session: string,
): Promise<{ readonly from: number; readonly last: number } | undefined> {
  const { rows } = await pool.query<{ events_from: string; event_seq: string }>(
    'select events_from, event_seq from sessions where tenant_id = $1 and key = $2',
    [tenant, session],
  );
  const row = rows[0];
  return row && { from: Number(row.events_from), last: Number(row.event_seq) };
}

/** The newest ids of many sessions at once (the safety poll). Sessions that are not there are left out. */
export async function readLastEventIds(
  pool: Pool,
  sessions: readonly { readonly tenant: string; readonly session: string }[],
): Promise<readonly { readonly tenant: string; readonly session: string; readonly last: number }[]> {
  const { rows } = await pool.query<{ tenant_id: string; key: string; event_seq: string }>(
    `select s.tenant_id, s.key, s.event_seq from unnest($1::text[], $2::text[]) as w (tenant, session)
     join sessions s on s.tenant_id = w.tenant and s.key = w.session`,
    [sessions.map((one) => one.tenant), sessions.map((one) => one.session)],
  );
  return rows.map((row) => ({ tenant: row.tenant_id, session: row.key, last: Number(row.event_seq) }));
}
