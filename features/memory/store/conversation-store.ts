/**
 * Finds what was said in sessions and is not yet in memory (VF-2), by how far each session was read; it is stored once.
 */
import { noteUses } from '#store/budgets/model-use-store.ts';
import { sql } from 'kysely';
import type { DocumentScope } from '#domain/files/document.ts';
import type { ModelUse } from '#domain/budget/model-use.ts';
import type { UsedTools } from '#domain/policy/used-tools.ts';
import { type DocumentChange, changeDocument } from '#store/files/document-store.ts';
import type { Pool } from '#store/postgres/pool.ts';
import { appendEvents, lockSession } from '#store/turns/session-writes.ts';
import { affects, readRow, readRows } from '#store/postgres/statements.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { inTransaction } from '#store/postgres/transaction.ts';

/** A conversation is read when nobody has spoken in it for this long, or when this many messages wait. */
const IDLE_MINUTES = 10;
const MANY = 100;
/** Messages of one reading, and characters of one message. */
const MESSAGES = 100;
const MESSAGE = 4_000;
/** Characters of all messages. */
const TEXTS = 30_000;

/** A condition on `s`. What is said in a replay is a test's. */
const IS_READY = sql`s.recorded < s.position and not coalesce(s.bound_context ? 'stand_ins', false)
  and (s.updated_at < now() - ${IDLE_MINUTES}::int * interval '1 minute' or s.position - s.recorded >= ${MANY}::int)`;

const ofScope = ({ tenant, agent, user }: DocumentScope) =>
  sql`s.tenant_id = ${tenant} and s.agent_key = ${agent} and s.user_id is not distinct from ${user}::text`;

export interface SpokenMessage {
  readonly role: 'user' | 'assistant';
  readonly text: string;
  /** True if the session's user said it, and nobody else. */
  readonly is_own: boolean;
  readonly turn_id: string;
  /** YYYY-MM-DD. */
  readonly day: string;
  readonly position: string;
}

export interface UnrecordedTalk {
  readonly session: string;
  /** The position up to which it has been read, and the one after this reading. */
  readonly from: string;
  readonly to: string;
  readonly used: UsedTools;
  readonly messages: readonly SpokenMessage[];
}

/** Covers all tenants, for the sweep. */
export function scopesToRecord(pool: Pool, limit: number): Promise<readonly DocumentScope[]> {
  return readRows<DocumentScope>(pool)`
    select distinct tenant_id as tenant, agent_key as agent, user_id as user from sessions s where ${IS_READY} limit ${limit}`;
}

export async function unrecordedCount(pool: Pool, scope: DocumentScope): Promise<number> {
  const row = await readRow<{ n: number }>(pool)`
    select count(*)::int as n from sessions s where ${ofScope(scope)} and ${IS_READY}`;
  return row?.n ?? 0;
}

/** The oldest of them. Turns of other people in a shared session are left out: memory is the user's own. */
export async function unrecordedTalk(pool: Pool, scope: DocumentScope): Promise<UnrecordedTalk | undefined> {
  const session = await readRow<{ key: string; recorded: string; position: string; used: UsedTools }>(pool)`
    select key, recorded, position, used_before(used) as used from sessions s where ${ofScope(scope)} and ${IS_READY}
    order by updated_at limit 1`;
  if (!session) return undefined;
  const { key, recorded: from, position, used } = session;
  const rows = await readRows<SpokenMessage>(pool)`
    select role, left(text, ${MESSAGE}::int) as text, is_own, turn_id, to_char(created_at at time zone 'utc', 'YYYY-MM-DD') as day, position
    from messages where tenant_id = ${scope.tenant} and session_key = ${key} and position > ${from} and position <= ${position}
      and (role = 'assistant' or is_own) and text <> '' and exists (select from turns t where t.tenant_id = messages.tenant_id
        and t.id = messages.turn_id and t.context ->> 'user' is not distinct from ${scope.user}::text)
    order by position limit ${MESSAGES}`;
  let remaining = TEXTS;
  const messages = rows.filter(({ text }, at) => (remaining -= text.length) >= 0 || at === 0);
  // Whatever follows a message that does not fit is for the next reading.
  const whole = messages.filter((message, at) => message === rows[at]);
  const isAll = whole.length === rows.length && rows.length < MESSAGES;
  return {
    session: key,
    from,
    to: isAll ? position : (whole.at(-1)?.position ?? position),
    used,
    messages: whole,
  };
}

export interface RecordedTalk {
  /** Undefined if nothing of it should be stored. */
  readonly change?: Omit<DocumentChange, 'expected' | 'call'> | undefined;
  readonly statements: number;
  /** The turn whose words led to it. */
  readonly turn: string | null;
  readonly uses: readonly ModelUse[];
}

/**
 * Also stores the model's usage. Returns false when another worker was first, or the session was forgotten in the
 * meantime; nothing of it is stored then.
 */
export function recordTalk(
  pool: Pool,
  scope: DocumentScope,
  { session, from, to }: UnrecordedTalk,
  { change, statements, turn, uses }: RecordedTalk,
): Promise<boolean> {
  return inTransaction(forTenant(pool, scope.tenant), async (tx) => {
    await lockSession(tx, session);
    await noteUses(tx.unbound, scope, uses);
    const isFirst = await affects(tx)`
      update sessions s set recorded = ${to} where ${ofScope(scope)} and key = ${session} and recorded = ${from}`;
    if (!isFirst || !change) return isFirst;
    const { done, revision } = await changeDocument(tx.unbound, scope, change);
    if (done) return true;
    const data = { path: change.path, revision, statements };
    await appendEvents(tx, { session, turn }, [{ type: 'memory.recorded', data }]);
    return true;
  });
}
