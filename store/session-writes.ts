/** What transactions of several statements write of a session: by the functions that also write it on a turn's way. */
import { type RawBuilder, sql } from 'kysely';
import type { NewEvent } from '#domain/event.ts';
import type { MessageContext, SettledCall } from '#domain/turn.ts';
import { callWithin } from './sql-call.ts';
import type { Transaction } from './database.ts';

/** Whose feed it is. `turn` may be null where nobody's turn has led to it. */
export interface FeedPlace {
  readonly tenant: string;
  readonly session: string;
  readonly turn: string | null;
}

/** Before anything else of it is read or written: one order of locks. */
export async function lockSession(tx: Transaction, tenant: string, session: string): Promise<void> {
  await sql`select 1 from sessions where tenant_id = ${tenant} and key = ${session} for update`.execute(tx);
}

export async function appendEvents(
  tx: Transaction,
  { tenant, session, turn }: FeedPlace,
  events: readonly NewEvent[],
): Promise<void> {
  await callWithin(tx, 'append_events', [tenant, session, turn, JSON.stringify(events)]);
}

/** Also on the feeds of those for whom the session works, so that they hear what is asked. */
export async function appendEventsUpwards(
  tx: Transaction,
  place: FeedPlace,
  events: readonly NewEvent[],
): Promise<void> {
  await appendEvents(tx, place, events);
  await callWithin(tx, 'append_above', [place.tenant, place.session, JSON.stringify(events)]);
}

/** Calls that are done stay as they are. */
export async function settleCall(tx: Transaction, place: FeedPlace, call: SettledCall): Promise<void> {
  const { tenant, session, turn } = place;
  await callWithin(tx, 'settle_calls', [tenant, session, turn, JSON.stringify([call])]);
}

/** The turn waits for people while one of its questions is open. */
export async function markTurnWaiting(tx: Transaction, { tenant, turn }: FeedPlace): Promise<void> {
  await tx
    .updateTable('turns')
    .set({ status: 'waiting_approval' })
    .where((is) => is.and({ tenant_id: tenant, id: turn ?? '' }))
    .where('ended_at', 'is', null)
    .execute();
}

/** A session that the system has an agent work in. */
export interface NewSession {
  readonly session: string;
  readonly agent: string;
  readonly user: string | null | undefined;
  readonly channel: string | undefined;
  readonly chat_id: string | undefined;
  /** Cut where it is long. */
  readonly title: string;
  /** Holds for all its turns. */
  readonly bound?: Partial<MessageContext> | undefined;
  /** The session that gives it its work, what that has read by now being in it (PO-5). */
  readonly giver: string | null;
  /** Whose budgets it uses (DU-7); JSON. */
  readonly root: string | null | RawBuilder<string>;
}

const TITLE = 80;

/** Leaves one that is there as it is; then false. */
export async function openSession(tx: Transaction, tenant_id: string, session: NewSession): Promise<boolean> {
  const {
    session: key,
    agent: agent_key,
    user: user_id,
    channel,
    chat_id,
    bound,
    root: budget_root,
  } = session;
  const used = usedBy(tenant_id, [session.giver]);
  const title = Array.from(session.title).slice(0, TITLE).join('');
  const bound_context = bound && JSON.stringify(bound);
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('sessions')
    .values({ tenant_id, key, agent_key, user_id, channel, chat_id, title, bound_context, budget_root, used })
    .onConflict((on) => on.doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}

/** The message that sets a session to work. Leaves one that is there as it is; then false. */
export async function sayFirst(
  tx: Transaction,
  tenant_id: string,
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
      tenant_id,
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

/** What sessions have read (PO-5), as a part of a statement. */
export function usedBy(tenant: string, sessions: readonly (string | null)[]): RawBuilder<string> {
  return sql`(select coalesce(jsonb_object_agg(u.key, u.value), '{}') from sessions s, jsonb_each(s.used) u
    where s.tenant_id = ${tenant} and s.key = any (${sessions}))`;
}

/** Whose budgets a turn's use counts for, as a part of a statement. */
export function budgetRootOf(
  tenant: string,
  session: string | null,
  turn: string | null,
): RawBuilder<string> {
  return sql`budget_root_of(${tenant}, ${session}, ${turn})`;
}
