/** Writes of sessions for transactions of several statements. They use the same SQL functions as turns. */
import { type RawBuilder, sql } from 'kysely';
import type { NewEvent } from '#domain/event.ts';
import type { MessageContext, SettledCall } from '#domain/turn/turn.ts';
import { callWithin } from '../postgres/sql-call.ts';
import { execute } from '../postgres/statements.ts';
import type { TenantDb, TenantTx } from '../postgres/tenant-db.ts';

/** The feed to write to. `turn` is null when no turn caused the write. */
export interface FeedPlace {
  readonly session: string;
  readonly turn: string | null;
}

/** It comes before all other reads and writes of the session: one order of locks. */
export async function lockSession(tx: TenantTx, session: string): Promise<void> {
  await sql`select 1 from sessions where tenant_id = ${tx} and key = ${session} for update`.execute(tx);
}

export async function appendEvents(
  tx: TenantTx,
  { session, turn }: FeedPlace,
  events: readonly NewEvent[],
): Promise<void> {
  await callWithin(tx, 'append_events', [session, turn, JSON.stringify(events)]);
}

/** Also appends to the feeds of the sessions that it works for, so that they see the questions. */
export async function appendEventsUpwards(
  tx: TenantTx,
  place: FeedPlace,
  events: readonly NewEvent[],
): Promise<void> {
  await appendEvents(tx, place, events);
  await callWithin(tx, 'append_above', [place.session, JSON.stringify(events)]);
}

/** Finished calls stay unchanged. */
export async function settleCall(
  tx: TenantTx,
  { session, turn }: FeedPlace,
  call: SettledCall,
): Promise<void> {
  await callWithin(tx, 'settle_calls', [session, turn, JSON.stringify([call])]);
}

/** The turn waits for people while one of its questions is open. */
export async function markTurnWaiting(tx: TenantTx, turn: string): Promise<void> {
  await tx
    .updateTable('turns')
    .set({ status: 'waiting_approval' })
    .where((is) => is.and({ tenant_id: tx.tenant, id: turn }))
    .where('ended_at', 'is', null)
    .execute();
}

/** A session that the system creates for an agent's work. */
export interface NewSession {
  readonly session: string;
  readonly agent: string;
  readonly user: string | null | undefined;
  readonly channel: string | undefined;
  readonly chat_id: string | undefined;
  /** Cut when it is too long. */
  readonly title: string;
  /** Context that applies to all its turns. */
  readonly bound?: Partial<MessageContext> | undefined;
  /** The session that gives it its work, whose present sources it inherits (PO-5). */
  readonly giver: string | null;
  /** JSON of the root whose budgets it uses (DU-7). */
  readonly root: string | null | RawBuilder<string>;
}

const TITLE = 80;

/** An existing session stays unchanged; then false. */
export async function openSession(tx: TenantTx, session: NewSession): Promise<boolean> {
  const {
    session: key,
    agent: agent_key,
    user: user_id,
    channel,
    chat_id,
    bound,
    root: budget_root,
  } = session;
  const used = usedBy(tx, [session.giver]);
  const title = Array.from(session.title).slice(0, TITLE).join('');
  const bound_context = bound && JSON.stringify(bound);
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('sessions')
    .values({
      tenant_id: tx.tenant,
      key,
      agent_key,
      user_id,
      channel,
      chat_id,
      title,
      bound_context,
      budget_root,
      used,
    })
    .onConflict((on) => on.doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}

/** The message that starts a session's work. An existing one stays unchanged; then false. */
export async function sayFirst(
  tx: TenantTx,
  first: {
    readonly session: string;
    readonly message: string;
    readonly text: string;
    readonly context: MessageContext;
  },
): Promise<boolean> {
  const { session: session_key, message: id, text, context } = first;
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('messages')
    .values({
      tenant_id: tx.tenant,
      id,
      session_key,
      role: 'user',
      text,
      mode: 'queue',
      context: JSON.stringify(context),
    })
    .onConflict((on) => on.doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}

/** What sessions have read (PO-5), as part of a statement. */
export function usedBy(tx: TenantTx, sessions: readonly (string | null)[]): RawBuilder<string> {
  return sql`(select coalesce(jsonb_object_agg(u.key, u.value), '{}') from sessions s, jsonb_each(s.used) u
    where s.tenant_id = ${tx} and s.key = any (${sessions}))`;
}

/** The session reads text of these others: what they have read from outside, it has read (PO-5). Safe to repeat. */
export async function noteReading(
  db: TenantDb | TenantTx,
  session: string,
  others: readonly string[],
): Promise<void> {
  const sources = others.filter((other) => other !== session);
  if (sources.length > 0)
    await execute(db)`
      select note_used(${db}, ${session}, used_before(used)) from sessions
       where tenant_id = ${db} and key = any (${sources}) and used <> '{}'`;
}

/** The root whose budgets a turn's use counts for, as part of a statement. */
export function budgetRootOf(tx: TenantTx, session: string | null, turn: string | null): RawBuilder<string> {
  return sql`budget_root_of(${tx}, ${session}, ${turn})`;
}
