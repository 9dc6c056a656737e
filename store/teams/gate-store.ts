/** What gates judge, and their results (DE-6). */
import { type GateCheck, type GateRun, type GateStep, turnGates, withWarnings } from '#domain/gate/gate.ts';
import { workContext } from '#domain/assignment/new-assignment.ts';
import type { MessageContext } from '#domain/turn/turn.ts';
import type { GatedWork } from './gated-work.ts';
import { appendEvents, budgetRootOf, lockSession, openSession, sayFirst } from '../turns/session-writes.ts';
import { findHandedIn } from './task-gate-store.ts';
import { inTransaction } from '../postgres/transaction.ts';
import { affects, readRow, readRows } from '../postgres/statements.ts';
import type { TenantDb } from '../postgres/tenant-db.ts';

export interface GateRow {
  readonly gate: number;
  readonly attempt: number;
  readonly name: string;
  readonly kind: GateCheck['kind'];
  readonly step: GateStep;
  readonly feedback: string;
  readonly created_at: string;
}

export interface Work {
  readonly session: string;
  readonly agent: string;
  readonly user: string | null;
  readonly title: string;
  readonly context: MessageContext;
  readonly bound: Pick<MessageContext, 'delegation'>;
  readonly message: string;
  readonly text: string;
}

/** The work in its present form; undefined when it is gone. */
export function findJudgedWork(db: TenantDb, run: GateRun): Promise<GatedWork | undefined> {
  if (run.kind === 'task') return findHandedIn(db, run);
  return run.kind === 'turn' ? findTurnWork(db, run) : findDelegatedWork(db, run);
}

async function findDelegatedWork(db: TenantDb, { owner_id }: GateRun): Promise<GatedWork | undefined> {
  const found = await readRow<GatedWork>(db)`
    select d.session_key as session, t.id as turn, r.config as agent, d.context, d.depth, d.label, d.task,
       coalesce(t.text, '') as output, d.gates
     from assignments d
     join lateral (select id, text, agent_key, agent_revision from turns where tenant_id = d.tenant_id
       and session_key = d.session_key and status = 'completed' order by ended_at desc limit 1) t on true
     join agent_revisions r on r.tenant_id = d.tenant_id and r.agent_key = t.agent_key
       and r.revision = t.agent_revision
     where d.tenant_id = ${db} and d.id = ${owner_id}`;
  return found && { ...found, context: workContext(found.context) };
}

/** The answer of a step. The question is what people wrote, without feedback of gates on earlier answers. */
async function findTurnWork(db: TenantDb, { owner_id, step }: GateRun): Promise<GatedWork | undefined> {
  const found = await readRow<Omit<GatedWork, 'gates'>>(db)`
    select t.session_key as session, t.id as turn, r.config as agent, t.context,
      coalesce((t.context #>> '{delegation,depth}')::int, 0) as depth,
      left(regexp_replace(asked.text, '\\s+', ' ', 'g'), 100) as label, asked.text as task, a.text as output
     from turns t
     join agent_revisions r on r.tenant_id = t.tenant_id and r.agent_key = t.agent_key
       and r.revision = t.agent_revision
     join messages a on a.tenant_id = t.tenant_id and a.turn_id = t.id and a.role = 'assistant'
       and a.step = ${step ?? 0}
     cross join lateral (select coalesce(string_agg(m.text, E'\\n\\n' order by m.position), '') as text
       from messages m where m.tenant_id = t.tenant_id and m.turn_id = t.id and m.role = 'user'
         and (m.step = 1 or m.mode = 'steer')) asked
     where t.tenant_id = ${db} and t.id = ${owner_id}`;
  if (!found) return undefined;
  const { agent, context } = found;
  const gates = turnGates(agent, context);
  return { ...found, context: workContext(context), gates, ...(context.team && { team: context.team.key }) };
}

/** Releases an answer that its gates have passed, or only warn about (DE-6). Safe to repeat. */
export function releaseAnswer(
  db: TenantDb,
  { session, turn, step }: { session: string; turn: string; step: number },
  warnings: readonly string[],
): Promise<void> {
  const { tenant: tenant_id } = db;
  return inTransaction(db, async (tx) => {
    await lockSession(tx, session);
    const answer = await tx
      .selectFrom('messages')
      .select(['id', 'text'])
      .where((is) => is.and({ tenant_id, turn_id: turn, step, role: 'assistant' }))
      .executeTakeFirst();
    if (!answer) return;
    const text = withWarnings(answer.text, warnings);
    const { numUpdatedRows } = await tx
      .updateTable('turns')
      .set({ text })
      .where((is) => is.and({ tenant_id, id: turn }))
      .where('ended_at', 'is', null)
      .where('text', 'is distinct from', text)
      .executeTakeFirst();
    if (numUpdatedRows === 0n) return;
    const data = { message_id: answer.id, text, step };
    await appendEvents(tx, { session, turn }, [{ type: 'message.completed', data }]);
  });
}

export async function gateRows(db: TenantDb, ownerId: string): Promise<readonly GateRow[]> {
  const rows = await readRows<{ row: GateRow }>(db)`
    select to_jsonb(g) as row from gate_checks g where tenant_id = ${db} and owner_id = ${ownerId}
      order by gate, attempt`;
  return rows.map(({ row }) => row);
}

/**
 * The first result of a gate's run stays, and is written to the feed of the work's session. Resolves with the stored
 * row.
 */
export async function recordGateCheck(
  db: TenantDb,
  check: Omit<GateRow, 'created_at'> & {
    readonly owner: string;
    readonly session: string;
    readonly turn: string | null;
  },
): Promise<GateRow | undefined> {
  const { owner, session, turn, ...found } = check;
  await inTransaction(db, async (tx) => {
    const { numInsertedOrUpdatedRows } = await tx
      .insertInto('gate_checks')
      .values({ ...found, tenant_id: db.tenant, owner_id: owner })
      .onConflict((on) => on.doNothing())
      .executeTakeFirst();
    if (!numInsertedOrUpdatedRows) return;
    const { name: gate, attempt, kind, step, feedback } = found;
    const data = {
      owner_id: owner,
      gate,
      attempt,
      kind,
      step,
      feedback: Array.from(feedback).slice(0, 500).join(''),
    };
    await appendEvents(tx, { session, turn }, [{ type: 'gate.checked', data }]);
  });
  const rows = await gateRows(db, check.owner);
  return rows.find((row) => row.gate === check.gate && row.attempt === check.attempt);
}

/** Writes a session for an agent and its first message; existing ones stay. False when the agent does not exist. */
export function writeWork(db: TenantDb, work: Work): Promise<boolean> {
  return inTransaction(db, async (tx) => {
    const isThere = await affects(tx)`
      select from agents where tenant_id = ${tx} and key = ${work.agent} and deleted_at is null`;
    if (!isThere) return false;
    const { delegation } = work.bound;
    const root = delegation ? budgetRootOf(tx, delegation.session, delegation.turn) : null;
    const { channel, chat_id } = work.context;
    const giver = delegation?.session ?? null;
    await openSession(tx, { ...work, channel, chat_id, giver, root });
    await sayFirst(tx, { ...work, context: workContext(work.context) });
    return true;
  });
}
