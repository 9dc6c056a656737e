/**
 * Copies the transcript of a session up to a place into the session of a fork, in the transaction that makes it. The
 * copies have ids that derive from the fork's key, name what they are copies of, and cost nothing: no usage, budget,
 * event or approval is copied.
 */
import { createHash } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import { sealedCall } from '#activities/tool-call/plan-calls.ts';
import { Failure } from '#domain/errors.ts';
import { execute, readRow, readRows } from '#store/postgres/statements.ts';
import type { TenantTx } from '#store/postgres/tenant-db.ts';
import type { Sealer } from '#store/seal.ts';
import { FORK_LIMITS } from '../contract.ts';
import type { ForkPlace } from './find-point.ts';

export interface RowCopy {
  readonly fork: string;
  readonly place: ForkPlace;
}

/** Ids of copies: the part after the first underscore is replaced by a digest of it and the fork's key. */
export function copiedStem(fork: string, id: string): string {
  const stem = id.slice(id.indexOf('_') + 1);
  return createHash('sha256').update(`${fork}/${stem}`).digest('hex').slice(0, 32);
}

/** The same as SQL. */
function stemSql(fork: string, id: RawBuilder<unknown>): RawBuilder<string> {
  return sql`left(encode(sha256(convert_to(${`${fork}/`}::text || substr(${id}, strpos(${id}, '_') + 1), 'UTF8')), 'hex'), 32)`;
}

/** @throws Failure TooLarge */
export async function refuseLarge(tx: TenantTx, { session, position }: ForkPlace): Promise<void> {
  const size = await readRow<{ messages: number; bytes: number; calls: number }>(tx)`
    select count(*)::int as messages, coalesce(sum(octet_length(m.text)), 0)::float8 + coalesce(sum(x.bytes), 0)::float8 as bytes,
      coalesce(sum(x.calls), 0)::int as calls
    from messages m left join lateral (
      select count(*) as calls, sum(coalesce(octet_length(c.result), 0) + octet_length(c.args::text)) as bytes from tool_calls c
      where m.role = 'assistant' and c.tenant_id = m.tenant_id and c.turn_id = m.turn_id and c.step = m.step) x on true
    where m.tenant_id = ${tx} and m.session_key = ${session} and m.position < ${position}`;
  const { messages = 0, bytes = 0, calls = 0 } = size ?? {};
  const max = FORK_LIMITS;
  if (messages <= max.messages && calls <= max.calls && bytes <= max.textBytes) return;
  throw new Failure(
    'TooLarge',
    `A fork copies at most ${max.messages} messages, ${max.calls} calls and ${max.textBytes} bytes of text, and there are ${messages}, ${calls} and ${bytes}; fork at an earlier step`,
  );
}

/** Returns the number of ended turns and of calls. */
export async function copyTranscript(
  tx: TenantTx,
  sealer: Sealer,
  copy: RowCopy,
): Promise<{ readonly turns: number; readonly calls: number }> {
  const turns = await copyTurns(tx, copy);
  await copyMessages(tx, copy);
  const calls = await copyCalls(tx, copy);
  await resealArguments(tx, sealer, copy);
  return { turns, calls };
}

/** Without the turn that goes on, of which only some steps are copied. */
function copyTurns(tx: TenantTx, { fork, place }: RowCopy): Promise<number> {
  const { session, position, turn, step } = place;
  return execute(tx)`
    insert into turns (tenant_id, id, session_key, agent_key, agent_revision, status, steps, text, error, context, skills,
      created_at, started_at, ended_at, copied_of)
    select t.tenant_id, 'turn_' || ${stemSql(fork, sql`t.id`)}, ${fork}, t.agent_key, t.agent_revision, t.status, t.steps, t.text,
      t.error, t.context - '{trace,key,roles,fork}'::text[], t.skills, t.created_at, t.started_at, t.ended_at, coalesce(t.copied_of, t.id)
    from turns t where t.tenant_id = ${tx} and t.session_key = ${session} and t.ended_at is not null
      and t.id is distinct from ${step === null ? null : turn.id}
      and exists (select from messages m where m.tenant_id = t.tenant_id and m.session_key = t.session_key and m.turn_id = t.id
        and m.position < ${position})`;
}

/** Positions stay: those of a session are its own. The calls of a message that lists tools are not sealed for a copy. */
async function copyMessages(tx: TenantTx, { fork, place }: RowCopy): Promise<void> {
  const { session, position, step, turn } = place;
  const stem = stemSql(fork, sql`m.id`);
  const turnStem = stemSql(fork, sql`m.turn_id`);
  await execute(tx)`
    insert into messages (tenant_id, id, session_key, turn_id, step, role, text, calls, attachments, is_own, mode, hooked, finish,
      model, position, created_at)
    select m.tenant_id, case when m.role = 'user' then 'msg_' || ${stem} else 'msg_' || ${turnStem} || '.' || m.step end,
      ${fork}, 'turn_' || ${turnStem}, m.step, m.role, m.text,
      case when m.role = 'assistant' and m.calls is not null then (
        select jsonb_agg(c.value || jsonb_build_object('id', 'call_' || ${turnStem} || '.' || m.step || '.' || (c.n - 1)) order by c.n)
        from jsonb_array_elements(m.calls) with ordinality c (value, n)) end,
      m.attachments, m.is_own, m.mode, case when m.turn_id = ${turn.id} and ${step}::int = 1 then null else m.hooked end, m.finish,
      m.model, m.position, m.created_at
    from messages m where m.tenant_id = ${tx} and m.session_key = ${session} and m.position < ${position}`;
}

/** Copied calls have not run here, so `started_at` is null. */
async function copyCalls(tx: TenantTx, { fork, place }: RowCopy): Promise<number> {
  const { session, position } = place;
  const id = sql`'call_' || ${stemSql(fork, sql`c.turn_id`)} || '.' || c.step || '.' || c.index`;
  const from = sql`from tool_calls c join messages m on m.tenant_id = c.tenant_id and m.turn_id = c.turn_id and m.step = c.step
      and m.role = 'assistant'
    where c.tenant_id = ${tx} and c.session_key = ${session} and m.session_key = c.session_key and m.position < ${position}`;
  await execute(tx)`
    insert into tool_results (tenant_id, id, text)
    select c.tenant_id, ${id}, (select r.text from tool_results r where r.tenant_id = c.tenant_id and r.id = c.whole_id) ${from}
      and exists (select from tool_results r where r.tenant_id = c.tenant_id and r.id = c.whole_id)
    on conflict do nothing`;
  return execute(tx)`
    insert into tool_calls (tenant_id, id, session_key, turn_id, step, index, tool, called_as, summary, args, digest, custom_tool_id,
      custom_tool_revision, verdict, reason, hooks, state, ok, code, result, whole_id, images, changed_files, created_at, ended_at,
      copied_of)
    select c.tenant_id, ${id}, ${fork}, 'turn_' || ${stemSql(fork, sql`c.turn_id`)}, c.step, c.index, c.tool, c.called_as, c.summary,
      c.args, c.digest, c.custom_tool_id, c.custom_tool_revision, c.verdict, c.reason, c.hooks, 'done', c.ok, c.code, c.result,
      case when exists (select from tool_results r where r.tenant_id = c.tenant_id and r.id = c.whole_id) then ${id} end,
      c.images, c.changed_files, c.created_at, c.ended_at, coalesce(c.copied_of, c.id) ${from}`;
}

interface SealedArguments {
  readonly id: string;
  readonly turn: string;
  readonly step: number;
  readonly index: number;
  readonly sealed: string;
}

/** What is sealed is bound to the id of its call. */
async function resealArguments(tx: TenantTx, sealer: Sealer, { fork, place }: RowCopy): Promise<void> {
  const { session, position } = place;
  const rows = await readRows<SealedArguments>(tx)`
    select c.id, c.turn_id as turn, c.step, c.index, translate(encode(c.args_sealed, 'base64'), E'\\n', '') as sealed
    from tool_calls c join messages m on m.tenant_id = c.tenant_id and m.turn_id = c.turn_id and m.step = c.step and m.role = 'assistant'
    where c.tenant_id = ${tx} and c.session_key = ${session} and m.position < ${position} and c.args_sealed is not null`;
  for (const { id, turn, step, index, sealed } of rows) {
    const copy = `call_${copiedStem(fork, turn)}.${step}.${index}`;
    const plain = sealer.open(sealed, sealedCall(tx.tenant, id));
    await execute(tx)`
      update tool_calls set args_sealed = decode(${sealer.seal(plain, sealedCall(tx.tenant, copy))}, 'base64')
      where tenant_id = ${tx} and id = ${copy} and session_key = ${fork}`;
  }
}

/**
 * Gives the session of the fork what the original had at the place: what it had read (PO-5), and its summary if that is
 * of rows which were copied. Its memory does not keep again what was said there.
 */
export async function continueSession(
  tx: TenantTx,
  { fork, place }: RowCopy,
  own: { readonly position: number; readonly turns: number },
): Promise<void> {
  const { session, position, before } = place;
  await execute(tx)`
    update sessions f set position = ${own.position}, recorded = ${position - 1}, turns = ${own.turns},
      used = (select coalesce(jsonb_object_agg(u.key, u.value), '{}') from jsonb_each(s.used) u
        where ${before}::float8 is null or (u.value ->> 'at')::float8 < ${before}::float8),
      summary = case when s.summary_position < ${position} then s.summary end,
      summary_position = case when s.summary_position < ${position} then s.summary_position else 0 end
    from sessions s where f.tenant_id = ${tx} and f.key = ${fork} and s.tenant_id = ${tx} and s.key = ${session}`;
}
