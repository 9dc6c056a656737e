/** Takes a place for an assignment: one at a time over a tenant, so that no number of calls at once exceeds a limit. */
import type { AssignmentKind } from '#domain/assignment.ts';
import { assignmentMessageId } from '#domain/ids.ts';
import type { LimitMet, NewAssignment, Origin, PlacesInUse } from '#domain/new-assignment.ts';
import type { MessageContext } from '#domain/turn.ts';
import { type AssignmentRow, findAssignment, ROW } from './assignment-store.ts';
import { type Db, inTransaction, type Pool } from './pool.ts';

/** The call that gives the work. */
export interface OriginCall {
  readonly tenant: string;
  readonly sessionKey: string;
  readonly turnId: string;
  readonly callId: string;
}

export interface PlaceWanted {
  readonly id: string;
  readonly kind: AssignmentKind;
  readonly link?: string;
  readonly target?: string;
  /** What the row says, or which limit is met; judged while nobody else takes a place. */
  readonly decide: (origin: Origin, inUse: PlacesInUse) => NewAssignment | LimitMet;
  /** The message that sets its session to work; an evaluation has none. */
  readonly first?: { readonly text: string; readonly context: (origin: MessageContext) => MessageContext };
}

export type TakenPlace =
  | { readonly kind: 'taken'; readonly row: AssignmentRow }
  /** The call has a result: its turn has ended. */
  | { readonly kind: 'over' }
  /** The link or the target is no more. */
  | { readonly kind: 'gone' }
  | LimitMet;

interface Seen extends PlacesInUse {
  readonly agent_key: string;
  readonly context: MessageContext;
  readonly is_over: boolean;
  readonly is_gone: boolean;
}

/** Runs again safely: a row of this id is there already. */
export function takeAssignment(pool: Pool, call: OriginCall, wanted: PlaceWanted): Promise<TakenPlace> {
  const { tenant } = call;
  return inTransaction<TakenPlace>(pool, async (db) => {
    await db.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`assignments of ${tenant}`]);
    const there = await findAssignment(db, tenant, wanted.id);
    if (there) return { kind: 'taken', row: there };
    const seen = await look(db, call, wanted);
    if (seen.is_over) return { kind: 'over' };
    if (seen.is_gone) return { kind: 'gone' };
    const { agent_key: agent, context } = seen;
    const origin = { session: call.sessionKey, turn: call.turnId, call: call.callId, agent, context };
    const row = wanted.decide(origin, seen);
    if (row.kind === 'refused') return row;
    if (wanted.first) await insertSession(db, tenant, row, wanted.first.text, wanted.first.context(context));
    return { kind: 'taken', row: await insertAssignment(db, tenant, row) };
  });
}

async function look(db: Db, call: OriginCall, { kind, link, target }: PlaceWanted): Promise<Seen> {
  const { rows } = await db.query<Seen>(
    `select t.agent_key, t.context,
       -- The end of a turn settles its calls: one that was not claimed may come after that.
       exists (select from tool_calls where tenant_id = $1 and id = $3 and state = 'done') as is_over,
       ($5::text is not null and not exists (select from agent_links where tenant_id = $1 and id = $5 and status = 'active'))
         or ($6::text is not null and not exists (
           select from agents where tenant_id = $1 and key = $6 and deleted_at is null)) as is_gone, used.*
     from turns t cross join (
       select count(*)::int as "all", count(*) filter (where origin_session = $7)::int as "ofSession",
         count(*) filter (where link_id = $5)::int as "onLink", count(*) filter (where target_key = $6)::int as "ofTarget"
       from assignments where tenant_id = $1 and kind = $4 and ended_at is null) used
     where t.tenant_id = $1 and t.id = $2`,
    [call.tenant, call.turnId, call.callId, kind, link ?? null, target ?? null, call.sessionKey],
  );
  const [seen] = rows;
  if (!seen) throw new Error(`there is no turn ${call.turnId} that could give work`);
  return seen;
}

/** The session that is to work, and the message that sets it to work; what it uses counts for the turn that gave the work (DU-7). */
export async function insertSession(
  db: Db,
  tenant: string,
  row: NewAssignment,
  text: string,
  context: MessageContext,
): Promise<void> {
  await db.query(
    `with made as (insert into sessions (tenant_id, key, agent_key, user_id, channel, chat_id, title, bound_context, budget_root)
       values ($1, $2, $3, $4, $5, $6, left($7, 80), $8, budget_root_of($1, $9, $10)))
     insert into messages (tenant_id, id, session_key, role, text, mode, context)
       values ($1, $11, $2, 'user', $12, 'queue', $13)`,
    [
      tenant,
      row.session_key,
      row.target_key,
      row.user_id,
      row.context.channel ?? null,
      row.context.chat_id ?? null,
      row.label,
      JSON.stringify(row.bound),
      row.origin_session,
      row.origin_turn,
      assignmentMessageId(row.id),
      text,
      JSON.stringify(context),
    ],
  );
}

/** An evaluation has begun with it. */
export async function insertAssignment(db: Db, tenant: string, row: NewAssignment): Promise<AssignmentRow> {
  const columns = Object.keys(row).join(', ');
  const { rows } = await db.query<{ row: AssignmentRow }>(
    `insert into assignments as a (tenant_id, created_at, ${columns})
     select $1, clock_timestamp(), ${columns} from jsonb_populate_record(null::assignments, $2) returning ${ROW}`,
    [tenant, JSON.stringify(row)],
  );
  const made = rows[0]?.row;
  if (!made) throw new Error(`assignment ${row.id} was not written`);
  if (row.kind === 'evaluation')
    await appendEvent(db, tenant, made, 'evaluation.started', {
      evaluation_id: row.id,
      label: row.label,
      generator: row.target_key,
      evaluator: row.details?.evaluator,
      call_id: row.origin_call,
      max_rounds: row.details?.max_rounds,
    });
  return made;
}

/** On the feed of who gave the work. */
export async function appendEvent(
  db: Db,
  tenant: string,
  { origin_session, origin_turn }: NewAssignment,
  type: string,
  data: Readonly<Record<string, unknown>>,
): Promise<void> {
  await db.query('select append_events($1, $2, $3, $4)', [
    tenant,
    origin_session,
    origin_turn,
    JSON.stringify([{ type, data }]),
  ]);
}
