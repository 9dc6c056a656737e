/** Sessions as the API shows them; message-store.ts writes their rows with their first message. */
import { sql } from 'kysely';
import type { UsedTools } from '#domain/policy/used-tools.ts';
import type { ForkContext, ForkPoint } from '#domain/turn/turn.ts';
import { below, readRow, readRows, type PageEnd } from '../postgres/statements.ts';
import type { TenantDb } from '../postgres/tenant-db.ts';

export interface SessionRow {
  readonly key: string;
  readonly agent_key: string;
  readonly user_id: string | null;
  readonly channel: string | null;
  readonly chat_id: string | null;
  readonly title: string | null;
  readonly turns: number;
  /** bigint: as text. */
  readonly event_seq: string;
  readonly created_at: Date;
  readonly updated_at: Date;
  /** `updated_at` with all its digits, for cursors. */
  readonly updated_text: string;
  readonly open_turn: string | null;
  readonly open_status: 'queued' | 'running' | 'waiting_approval' | null;
  readonly open_run: string | null;
  readonly forked_from: ForkPoint | null;
}

/** With the running turn, otherwise the one that waits first. */
const SELECT = sql`
  select s.key, s.agent_key, s.user_id, s.channel, s.chat_id, s.title, s.turns, s.event_seq, s.created_at, s.updated_at,
    s.updated_at::text as updated_text, t.id as open_turn, t.status as open_status, t.run_id as open_run,
    s.bound_context #> '{fork,from}' as forked_from
  from sessions s
  left join lateral (
    select id, status, run_id from turns
    where tenant_id = s.tenant_id and session_key = s.key and status in ('running', 'waiting_approval', 'queued')
    order by (status = 'queued'), created_at limit 1) t on true`;

export interface SessionFilter {
  readonly agent?: string | undefined;
  readonly user?: string | undefined;
  readonly channel?: string | undefined;
  /** Sessions of other users are left out; null means none are. */
  readonly confinedTo: string | null;
}

/** Last change first; `after` is the last row of the previous page. */
export function listSessions(
  db: TenantDb,
  filter: SessionFilter,
  limit: number,
  after: PageEnd | undefined,
): Promise<SessionRow[]> {
  return readRows<SessionRow>(db)`${SELECT}
     where s.tenant_id = ${db} and (${filter.agent}::text is null or s.agent_key = ${filter.agent})
       and (${filter.user}::text is null or s.user_id = ${filter.user})
       and (${filter.channel}::text is null or s.channel = ${filter.channel})
       and (${filter.confinedTo}::text is null or s.user_id = ${filter.confinedTo})
       ${below('s.updated_at', 's.key', after)}
     order by s.updated_at desc, s.key limit ${limit}`;
}

export function findSession(db: TenantDb, key: string): Promise<SessionRow | undefined> {
  return readRow<SessionRow>(db)`${SELECT} where s.tenant_id = ${db} and s.key = ${key}`;
}

/** The fork that a session works in, whose files it has; undefined for most. */
export async function forkOfSession(db: TenantDb, key: string): Promise<ForkContext | undefined> {
  const row = await readRow<{ fork: ForkContext | null }>(db)`
    select bound_context -> 'fork' as fork from sessions where tenant_id = ${db} and key = ${key}`;
  return row?.fork ?? undefined;
}

/** What these sessions have read until now (PO-5). */
export async function findUsed(db: TenantDb, keys: readonly string[]): Promise<UsedTools> {
  const row = await readRow<{ used: UsedTools }>(db)`
    select coalesce(jsonb_object_agg(u.key, u.value), '{}') as used from sessions s, jsonb_each(used_before(s.used)) u
     where s.tenant_id = ${db} and s.key = any (${[...keys]}::text[])`;
  return row?.used ?? {};
}
