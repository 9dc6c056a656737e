/** Takes a slot for an assignment: one at a time per tenant, so that concurrent calls cannot exceed a limit. */
import { sql } from 'kysely';
import type { NewEvent } from '#domain/event.ts';
import { type AssignmentKind, assignmentMessageId } from '#domain/ids.ts';
import type { LimitMet, NewAssignment, Origin, PlacesInUse } from '#domain/assignment/new-assignment.ts';
import type { MessageContext } from '#domain/turn/turn.ts';
import { type AssignmentRow, findAssignment, ROW } from './assignment-store.ts';
import {
  appendEvents,
  budgetRootOf,
  type FeedPlace,
  openSession,
  sayFirst,
} from '../turns/session-writes.ts';
import { execute, readRow } from '../postgres/statements.ts';
import type { TenantDb, TenantTx } from '../postgres/tenant-db.ts';
import { inTransaction } from '../postgres/transaction.ts';
import { tracedFrom } from '../turns/span-ids.ts';

/** The call that gives the work. */
export interface OriginCall {
  readonly sessionKey: string;
  readonly turnId: string;
  readonly callId: string;
}

export interface PlaceRequest {
  readonly id: string;
  readonly kind: AssignmentKind;
  readonly link?: string;
  readonly target?: string;
  /** Returns the row's contents, or the limit that is reached; nobody else takes a slot meanwhile. */
  readonly decide: (origin: Origin, inUse: PlacesInUse) => NewAssignment | LimitMet;
  /** The event that announces its start. */
  readonly started?: NewEvent;
  /** The first message of its session; absent when it has none. */
  readonly first?: { readonly text: string; readonly context: (origin: MessageContext) => MessageContext };
}

export type TakenPlace =
  | { readonly kind: 'taken'; readonly row: AssignmentRow }
  /** The call has a result because its turn has ended. */
  | { readonly kind: 'over' }
  /** The link or the target no longer exists. */
  | { readonly kind: 'gone' }
  | LimitMet;

/** Safe to repeat: a row with this id stays. */
export function takeAssignment(db: TenantDb, call: OriginCall, required: PlaceRequest): Promise<TakenPlace> {
  return inTransaction<TakenPlace>(db, async (tx) => {
    await execute(tx.unbound)`
      select pg_advisory_xact_lock(hashtextextended(${`assignments of ${tx.tenant}`}, 0))`;
    const there = await findAssignment(tx, required.id);
    if (there) return { kind: 'taken', row: there };
    const { agent_key: agent, context, is_over, is_gone, ...inUse } = await look(tx, call, required);
    if (is_over) return { kind: 'over' };
    if (is_gone) return { kind: 'gone' };
    const origin = { session: call.sessionKey, turn: call.turnId, call: call.callId, agent, context };
    const row = required.decide(origin, inUse);
    if (row.kind === 'refused') return row;
    const traced = tracedFrom(tx.tenant, context, call.callId);
    if (required.first) await openFor(tx, row, required.first.text, required.first.context(traced));
    const made = await insertAssignment(tx, row);
    if (required.started) await appendEvents(tx, originOf(made), [required.started]);
    return { kind: 'taken', row: made };
  });
}

interface Seen extends PlacesInUse {
  readonly agent_key: string;
  readonly context: MessageContext;
  readonly is_over: boolean;
  readonly is_gone: boolean;
}

async function look(tx: TenantTx, call: OriginCall, { kind, link, target }: PlaceRequest): Promise<Seen> {
  const seen = await readRow<Seen>(tx)`
    select t.agent_key, t.context, used.*, coalesce(l.max_concurrent, 0) as "maxOnLink",
      -- The end of a turn settles its calls: one that was not claimed may come after that.
      exists (select from tool_calls where tenant_id = ${tx} and id = ${call.callId} and state = 'done') as is_over,
      (${link}::text is not null and l.id is null) or (${target}::text is not null and not exists (
        select from agents where tenant_id = ${tx} and key = ${target} and deleted_at is null)) as is_gone
    from turns t
      left join agent_links l on l.tenant_id = ${tx} and l.id = ${link} and l.status = 'active'
      cross join (
        select count(*)::int as "all", count(*) filter (where origin_session = ${call.sessionKey})::int as "ofSession",
          count(*) filter (where link_id = ${link})::int as "onLink",
          count(*) filter (where target_key = ${target})::int as "ofTarget"
        from assignments where tenant_id = ${tx} and kind = ${kind} and ended_at is null
          -- What somebody has stopped makes room at once.
          and stopped_by is null) used
    where t.tenant_id = ${tx} and t.id = ${call.turnId}`;
  if (!seen) throw new Error(`there is no turn ${call.turnId} that could give work`);
  return seen;
}

/** The session for the work, and its first message; its use counts for the turn that gave the work (DU-7). */
export async function openFor(
  tx: TenantTx,
  row: NewAssignment,
  text: string,
  context: MessageContext,
): Promise<void> {
  const {
    session_key: session,
    target_key: agent,
    user_id: user,
    label: title,
    bound,
    origin_session: giver,
  } = row;
  const { channel, chat_id } = row.context;
  const root = budgetRootOf(tx, row.origin_session, row.origin_turn);
  const first = { session, message: assignmentMessageId(row.id), text, context };
  const isNew =
    (await openSession(tx, { session, agent, user, channel, chat_id, title, bound, giver, root })) &&
    (await sayFirst(tx, first));
  if (!isNew) throw new Error(`the session ${session} is there already`);
}

export async function insertAssignment(tx: TenantTx, row: NewAssignment): Promise<AssignmentRow> {
  const columns = sql.raw(Object.keys(row).join(', '));
  const made = await readRow<{ row: AssignmentRow }>(tx)`
    insert into assignments as a (tenant_id, created_at, ${columns})
    select ${tx}, clock_timestamp(), ${columns} from jsonb_populate_record(null::assignments, ${JSON.stringify(row)})
    returning ${ROW}`;
  if (!made) throw new Error(`assignment ${row.id} was not written`);
  return made.row;
}

/** The giver of the work. */
export function originOf({ origin_session, origin_turn }: NewAssignment): FeedPlace {
  return { session: origin_session, turn: origin_turn };
}
