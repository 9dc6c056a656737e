/** What transactions of several statements write of a session: by the functions that also write it on a turn's way. */
import { sql } from 'kysely';
import type { NewEvent } from '#domain/event.ts';
import type { SettledCall } from '#domain/turn.ts';
import { callWithin } from './sql-call.ts';
import type { Transaction } from './transaction.ts';

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
