/**
 * Makes the session of a fork in one commit: the copied transcript, the turn that goes on or the message that is to
 * start one, and the end of the request.
 */
import type { ForkPoint, MessageContext } from '#domain/turn/turn.ts';
import { turnIdOf } from '#domain/ids.ts';
import { execute, readRow } from '#store/postgres/statements.ts';
import type { TenantDb, TenantTx } from '#store/postgres/tenant-db.ts';
import { inTransaction } from '#store/postgres/transaction.ts';
import type { Sealer } from '#store/seal.ts';
import { appendEvents, openSession } from '#store/turns/session-writes.ts';
import type { ForkResult, ForkInput } from './contract.ts';
import { continueSession, copiedStem, copyTranscript, refuseLarge } from './store/copy-rows.ts';
import { findPlace, type ForkPlace } from './store/find-point.ts';
import { findFork, type ForkRow, noteDone, taken } from './store/fork-store.ts';

type CopiedFiles = Omit<ForkResult, 'turns' | 'calls'>;

interface NewRows {
  readonly tx: TenantTx;
  readonly row: ForkRow;
  readonly place: ForkPlace;
  readonly input: ForkInput;
}

/**
 * Returns the row as it is then; a fork that is there stays. `input.message` is scrubbed. @throws Failure as
 * `findPlace`; TooLarge; Conflict when the key is taken
 */
export function makeForkRows(
  db: TenantDb,
  sealer: Sealer,
  { session_key: fork, from_session, from_turn, from_step }: ForkRow,
  input: ForkInput,
  files: CopiedFiles,
): Promise<ForkRow> {
  return inTransaction(db, async (tx) => {
    // Of two attempts at once, the second one waits here.
    await execute(tx)`select from forks where tenant_id = ${tx} and session_key = ${fork} for update`;
    const row = await findFork(tx, fork);
    if (row?.status !== 'open') return row ?? missing(fork);
    const place = await findPlace(tx, {
      session: from_session,
      turn: from_turn,
      step: from_step ?? undefined,
    });
    await refuseLarge(tx, place);
    const rows: NewRows = { tx, row, place, input };
    if (!(await openForkSession(rows))) throw taken(fork);
    const copied = await copyTranscript(tx, sealer, { fork, place });
    const turn_id = await goOn(rows, copied.turns);
    const data = { ...pointOf(row) };
    await appendEvents(tx, { session: fork, turn: null }, [{ type: 'session.forked', data }]);
    if (place.step !== null)
      await appendEvents(tx, { session: fork, turn: turn_id }, [{ type: 'turn.started', data: {} }]);
    await noteDone(tx, fork, { turn_id, result: { ...copied, ...files } });
    return (await findFork(tx, fork)) ?? missing(fork);
  });
}

function missing(fork: string): never {
  throw new Error(`the request to fork ${fork} is gone`);
}

export function pointOf({ from_session, from_turn, from_step }: ForkRow): ForkPoint {
  return { session: from_session, turn_id: from_turn, step: from_step };
}

function openForkSession({ tx, row, place }: NewRows): Promise<boolean> {
  const { session_key: session, agent_key: agent, user_id: user } = row;
  return openSession(tx, {
    session,
    agent,
    user,
    // A chat service must not get the answers of the fork.
    channel: undefined,
    chat_id: undefined,
    title: place.title ?? place.session,
    bound: { fork: { session, from: pointOf(row) } },
    giver: null,
    root: null,
  });
}

/** Returns the turn that goes on. */
async function goOn(rows: NewRows, turns: number): Promise<string | null> {
  const { tx, row, place, input } = rows;
  const { session_key: fork } = row;
  if (place.step !== null) {
    const { turn_id, position } = await goOnWithTurn(rows, place.step);
    await continueSession(tx, { fork, place }, { position, turns: turns + 1 });
    return turn_id;
  }
  await continueSession(tx, { fork, place }, { position: place.position - 1, turns });
  if (input.message === undefined) return null;
  const message = newMessageId(fork);
  await execute(tx)`
    insert into messages (tenant_id, id, session_key, role, text, is_own, mode, context)
    values (${tx}, ${message}, ${fork}, 'user', ${input.message}, true, 'queue', ${JSON.stringify(row.context)})`;
  return turnIdOf(message);
}

/** The message with which a fork goes on. */
function newMessageId(fork: string): string {
  return `msg_${copiedStem(fork, '_message of the fork')}`;
}

/**
 * The turn at whose step the session was forked: its earlier steps are copied, and the rest is live, with the newest
 * revision of the agent. A message replaces the turn's own at the first step, and steers it later.
 */
async function goOnWithTurn(
  { tx, row, place, input }: NewRows,
  step: number,
): Promise<{ readonly turn_id: string; readonly position: number }> {
  const { session_key: fork } = row;
  const turn_id = `turn_${copiedStem(fork, place.turn.id)}`;
  const context = liveContext(row, place, input, step);
  await execute(tx)`
    insert into turns (tenant_id, id, session_key, agent_key, agent_revision, status, steps, context, skills, started_at)
    select t.tenant_id, ${turn_id}, ${fork}, ${row.agent_key},
      (select revision from agents a where a.tenant_id = t.tenant_id and a.key = ${row.agent_key}), 'running', ${step - 1},
      ${JSON.stringify(context)}::jsonb, jsonb_path_query_array(t.skills, '$[*] ? (@.step < $step)', jsonb_build_object('step', ${step}::int)),
      clock_timestamp()
    from turns t where t.tenant_id = ${tx} and t.id = ${place.turn.id}`;
  if (input.message === undefined) return { turn_id, position: place.position - 1 };
  if (step === 1)
    await execute(tx)`
      delete from messages where tenant_id = ${tx} and session_key = ${fork} and turn_id = ${turn_id} and role = 'user'`;
  const steering = await readRow<{ position: string }>(tx)`
    insert into messages (tenant_id, id, session_key, turn_id, step, role, text, is_own, mode, context, position)
    select ${tx}, ${newMessageId(fork)}, ${fork}, ${turn_id}, ${step}, 'user', ${input.message}, true, 'queue',
      ${JSON.stringify(row.context)}::jsonb, coalesce(max(position), 0) + 1
    from messages where tenant_id = ${tx} and session_key = ${fork} returning position`;
  return { turn_id, position: Number(steering?.position ?? place.position) };
}

/**
 * Limits of the original message stay; the rights are those of whoever asks for the fork. Another agent has settings of
 * its own.
 */
function liveContext(
  { context, session_key: session, agent_key: agent }: ForkRow,
  { turn, agent: before }: ForkPlace,
  { answer }: ForkInput,
  step: number,
): MessageContext {
  const { allowed_tools, group, channel, chat_id, client_tools, overrides, read } = turn.context;
  const limits = { allowed_tools, group, channel, chat_id, client_tools, read };
  const settings = before === agent ? { overrides } : {};
  return {
    ...limits,
    ...settings,
    ...context,
    fork: { session, ...(answer && { answer_step: step }) },
  };
}
