/** Turns as the API reads them; the loop's own writes are SQL functions. */
import type { SkillInUse } from '#domain/policy/skills-in-use.ts';
import { sql } from 'kysely';
import type { MessageContext, TurnStatus } from '#domain/turn/turn.ts';
import type { Pool } from '../postgres/pool.ts';
import { affects, below, readRow, readRows, type PageEnd, type RowOf } from '../postgres/statements.ts';
import type { TenantDb } from '../postgres/tenant-db.ts';

export interface TurnRow extends RowOf<'turns', 'context' | 'budget_root' | 'error'> {
  readonly error: { readonly code: string; readonly message: string } | null;
  /** Who said its message, with whose rights and credentials it runs; null for nobody's. */
  readonly user: string | null;
  readonly created_text: string;
}

const COLUMNS = sql`id, session_key, agent_key, agent_revision, ran_with, context ->> 'user' as user, status, steps, text, error, run_id, input_tokens, output_tokens,
  cached_tokens, cost_usd, unpriced_calls, created_at, created_at::text as created_text, started_at, ended_at`;

export function findTurn(db: TenantDb, id: string): Promise<TurnRow | undefined> {
  return readRow<TurnRow>(db)`select ${COLUMNS} from turns where tenant_id = ${db} and id = ${id}`;
}

/** Newest first. */
export function listTurns(
  db: TenantDb,
  session: string,
  limit: number,
  after: PageEnd | undefined,
): Promise<TurnRow[]> {
  return readRows<TurnRow>(db)`
    select ${COLUMNS} from turns where tenant_id = ${db} and session_key = ${session}
       ${below('created_at', 'id', after)}
     order by created_at desc, id limit ${limit}`;
}

/** The turn that a stop without an id means: the running one, otherwise the one that waits first. */
export function findOpenTurn(db: TenantDb, session: string): Promise<TurnRow | undefined> {
  return readRow<TurnRow>(db)`select ${COLUMNS} from turns
     where tenant_id = ${db} and session_key = ${session} and status in ('running', 'waiting_approval', 'queued')
     order by (status = 'queued'), turns.created_at limit 1`;
}

/**
 * The open turn as `findOpenTurn` reads it, otherwise the newest one. It is one statement, so that a turn which begins
 * meanwhile is not taken for one that has ended.
 */
export function findOpenOrLastTurn(db: TenantDb, session: string): Promise<TurnRow | undefined> {
  return readRow<TurnRow>(db)`with open as (select ${COLUMNS} from turns
       where tenant_id = ${db} and session_key = ${session} and status in ('running', 'waiting_approval', 'queued')
       order by (status = 'queued'), turns.created_at limit 1)
     select * from open union all
     (select ${COLUMNS} from turns
       where tenant_id = ${db} and session_key = ${session} and not exists (select from open)
       order by turns.created_at desc, turns.id limit 1)`;
}

/** Number of the session's open turns that came before this one, which may not exist yet. */
export async function countTurnsBefore(db: TenantDb, session: string, id: string): Promise<number> {
  const row = await readRow<{ count: number }>(db)`select count(*)::int as count from turns
     where tenant_id = ${db} and session_key = ${session} and id <> ${id}
       and status in ('running', 'waiting_approval', 'queued')
       and created_at <= coalesce((select created_at from turns where tenant_id = ${db} and id = ${id}), now())`;
  return row?.count ?? 0;
}

export interface QueuedTurn {
  readonly id: string;
  readonly session: string;
  readonly context: MessageContext;
  /** Number of turns before it; above 0, the feed says that it waits. */
  readonly ahead: number;
  readonly messageId: string;
}

/**
 * Records that a turn waits, unless the loop has already started it. True when the feed has grown, so that readers must
 * be notified. Safe to repeat.
 */
export function insertQueuedTurn(
  db: TenantDb,
  { id, session, context, ahead, messageId }: QueuedTurn,
): Promise<boolean> {
  const events = ahead > 0 ? [{ type: 'turn.queued', data: { message_id: messageId, ahead } }] : [];
  return affects(db)`
    with made as (
      insert into turns (tenant_id, id, session_key, agent_key, status, context)
      select ${db}, ${id}, ${session}, s.agent_key, 'queued', ${JSON.stringify(context)} from sessions s
      where s.tenant_id = ${db} and s.key = ${session} on conflict do nothing returning id)
    select append_events(${db}, ${session}, id, ${JSON.stringify(events)}) from made where ${ahead > 0}`;
}

export interface LostTurn {
  readonly id: string;
  /** No later turn of the session has started. */
  readonly is_last: boolean;
}

/** Open turns of a session that no run knows; of waiting ones only older ones. Oldest first. */
export function lostTurns(
  db: TenantDb,
  session: string,
  waitingSeconds: number,
): Promise<readonly LostTurn[]> {
  return readRows<LostTurn>(db)`select id, started_at is not null and not exists (
         select 1 from turns y where y.tenant_id = t.tenant_id and y.session_key = t.session_key
           and y.started_at > t.started_at) as is_last
     from turns t where tenant_id = ${db} and session_key = ${session} and ended_at is null
       and (status <> 'queued' or created_at < now() - make_interval(secs => ${waitingSeconds}))
     order by created_at, id`;
}

/** For /metrics: over all tenants, only open turns, so that the count stays cheap. */
export function countOpenTurns(pool: Pool): Promise<readonly { status: TurnStatus; count: number }[]> {
  return readRows<{ status: TurnStatus; count: number }>(pool)`
    select status, count(*)::int as count from turns
     where status in ('queued', 'running', 'waiting_approval') group by status`;
}

/** Skills in use in the session's running turn. */
export async function findSkillsInUse(db: TenantDb, session: string): Promise<SkillInUse[]> {
  const row = await readRow<{ skills: SkillInUse[] }>(db)`select skills from turns
    where tenant_id = ${db} and session_key = ${session} and ended_at is null order by created_at desc limit 1`;
  return row?.skills ?? [];
}
