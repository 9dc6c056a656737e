/** The rows of replays, and the rows of a session that a recording is made of. */
import type { AgentConfig } from '#domain/agent.ts';
import type { TenantPolicy } from '#domain/tenant.ts';
import type { MessageContext } from '#domain/turn/turn.ts';
import { affects, execute, readRow, readRows } from '#store/postgres/statements.ts';
import type { TenantDb } from '#store/postgres/tenant-db.ts';
import { inTransaction } from '#store/postgres/transaction.ts';
import { refuseFrozen } from '#store/tenant-freeze.ts';
import { openSession } from '#store/turns/session-writes.ts';
import type {
  Difference,
  RecordedCall,
  RecordedStep,
  RecordedTurn,
  Recording,
  ReplayMode,
  Script,
  WhatIf,
} from './schema.ts';

/** What decides in place of what is in force. */
export interface ReplayChange {
  readonly models: WhatIf['models'];
  readonly agent?: AgentConfig;
  readonly policy?: TenantPolicy;
}

export interface ReplayRow {
  readonly id: string;
  readonly session_key: string;
  readonly mode: ReplayMode;
  readonly stand_ins: Recording | Script;
  /** Only of a what-if. */
  readonly change: ReplayChange | null;
  readonly difference: Difference | null;
  readonly created_at: Date;
}

/** Writes the replay and its session, to which it is bound, in one commit. @throws Failure TenantFrozen */
export function insertReplay(
  db: TenantDb,
  replay: Pick<ReplayRow, 'id' | 'session_key' | 'mode' | 'stand_ins' | 'change'>,
  by: string,
  bound: MessageContext,
): Promise<void> {
  const { id, session_key, mode, stand_ins, change } = replay;
  return inTransaction(db, async (tx) => {
    await refuseFrozen(tx);
    await openSession(tx, {
      session: session_key,
      agent: stand_ins.agent,
      user: bound.user,
      channel: bound.channel,
      chat_id: bound.chat_id,
      title: `Replay (${mode})`,
      bound,
      giver: null,
      root: null,
    });
    await execute(tx)`
      insert into replays (tenant_id, id, session_key, mode, stand_ins, change, created_by)
      values (${tx}, ${id}, ${session_key}, ${mode}, ${JSON.stringify(stand_ins)},
        ${change && JSON.stringify(change)}, ${by})`;
  });
}

export function findReplay(db: TenantDb, id: string): Promise<ReplayRow | undefined> {
  return readRow<ReplayRow>(db)`
    select id, session_key, mode, stand_ins, change, difference, created_at from replays where tenant_id = ${db} and id = ${id}`;
}

/** The first one stays. */
export function noteDifference(db: TenantDb, id: string, difference: Difference): Promise<boolean> {
  return affects(db)`
    update replays set difference = ${JSON.stringify(difference)} where tenant_id = ${db} and id = ${id} and difference is null`;
}

/** A repeat of a step replaces what it was asked. */
export async function keepPart(
  db: TenantDb,
  { id, session_key }: Pick<ReplayRow, 'id' | 'session_key'>,
  name: string,
  value: unknown,
): Promise<void> {
  await execute(db)`
    insert into replay_parts (tenant_id, replay_id, name, session_key, value)
    values (${db}, ${id}, ${name}, ${session_key}, ${JSON.stringify(value)})
    on conflict (tenant_id, replay_id, name) do update set value = excluded.value`;
}

export async function readParts(db: TenantDb, id: string): Promise<Record<string, unknown>> {
  const row = await readRow<{ parts: Record<string, unknown> }>(db)`
    select coalesce(jsonb_object_agg(name, value), '{}') as parts from replay_parts where tenant_id = ${db} and replay_id = ${id}`;
  return row?.parts ?? {};
}

/** Which turn of its session it is, from 1. */
export async function ordinalOf(db: TenantDb, session: string, turn: string): Promise<number> {
  const row = await readRow<{ turns: number }>(db)`
    select count(distinct turn_id)::int as turns from messages where tenant_id = ${db} and session_key = ${session}
      and turn_id is not null and position <= (select min(position) from messages where tenant_id = ${db} and turn_id = ${turn})`;
  return row?.turns ?? 1;
}

export interface EarlierCall {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** The calls of the session before a step that were answered, in their order. */
export function callsBefore(
  db: TenantDb,
  session: string,
  turn: string,
  step: number,
): Promise<EarlierCall[]> {
  return readRows<EarlierCall>(db)`
    select c.tool, c.args from tool_calls c
      join messages m on m.tenant_id = c.tenant_id and m.turn_id = c.turn_id and m.step = c.step and m.role = 'assistant'
     where c.tenant_id = ${db} and c.session_key = ${session} and c.started_at is not null
       and not (c.turn_id = ${turn} and c.step = ${step})
     order by m.position, c.index`;
}

/** Each call of these tools that the session has asked for before a step, as its model wrote it, in any order. */
export function requestedBefore(
  db: TenantDb,
  session: string,
  { turn, step }: { readonly turn: string; readonly step: number },
  tools: readonly string[],
): Promise<EarlierCall[]> {
  return readRows<EarlierCall>(db)`
    select c.tool, coalesce(m.calls -> c.index -> 'args', c.args) as args from tool_calls c
      join messages m on m.tenant_id = c.tenant_id and m.turn_id = c.turn_id and m.step = c.step and m.role = 'assistant'
     where c.tenant_id = ${db} and c.session_key = ${session} and c.tool = any(${tools})
       and not (c.turn_id = ${turn} and c.step = ${step})`;
}

/** Marks what the session has read, as the results of calls do (PO-5). Safe to repeat. */
export async function noteUsed(
  db: TenantDb,
  session: string,
  calls: Readonly<Record<string, string>>,
): Promise<void> {
  if (Object.keys(calls).length > 0)
    await execute(db)`select note_used(${db}, ${session}, ${JSON.stringify(calls)}::jsonb)`;
}

export interface SessionToRecord {
  readonly agent: string;
  readonly summary: string | null;
  readonly calls: number;
  readonly turns: readonly TurnToRecord[];
}

/** `context`: of the turn; `steered`: a message came after its first step. */
export interface TurnToRecord extends Omit<RecordedTurn, 'steps' | 'message'> {
  readonly revision: number | null;
  readonly context: Readonly<Record<string, unknown>>;
  readonly is_open: boolean;
  readonly steered: boolean;
  readonly message: string | null;
  readonly steps: readonly StepToRecord[];
}

export interface StepToRecord extends Omit<RecordedStep, 'calls'> {
  readonly calls: readonly CallToRecord[];
}

export interface CallToRecord extends Omit<RecordedCall, 'hooked' | 'approval' | 'edited' | 'ok' | 'result'> {
  /** The arguments with which it ran. */
  readonly ran: Readonly<Record<string, unknown>>;
  readonly hooked: boolean;
  readonly approval: { readonly status: string; readonly by: string | null } | null;
  readonly ok: boolean | null;
  readonly result: string | null;
}

/** At most `turns` turns, the first ones; all reads are one statement, so they are of one moment. */
export async function readSession(
  db: TenantDb,
  key: string,
  turns: number,
): Promise<SessionToRecord | undefined> {
  return readRow<SessionToRecord>(db)`
    select s.agent_key as agent, s.summary,
      (select count(*)::int from tool_calls c where c.tenant_id = s.tenant_id and c.session_key = s.key) as calls,
      coalesce((select jsonb_agg(jsonb_build_object(
        'id', t.id, 'used', jsonb_build_object('tokens', t.input_tokens + t.output_tokens,
          'usd', case when t.unpriced_calls = 0 then coalesce(t.cost_usd, 0) end),
        'status', t.status, 'is_open', t.ended_at is null, 'text', t.text, 'revision', t.agent_revision, 'context', t.context,
        'error', case when t.error is not null then jsonb_build_object('code', t.error ->> 'code', 'message', t.error ->> 'message') end,
        'message', (select string_agg(m.text, E'\\n\\n' order by m.position) from messages m
          where m.tenant_id = t.tenant_id and m.turn_id = t.id and m.role = 'user'),
        'steered', exists (select from messages m where m.tenant_id = t.tenant_id and m.turn_id = t.id and m.role = 'user' and m.step > 1),
        'steps', coalesce((select jsonb_agg(jsonb_build_object('text', m.text, 'finish', coalesce(m.finish, 'stop'), 'model', m.model,
            'usage', m.usage, 'at', m.created_at,
            'calls', coalesce((select jsonb_agg(jsonb_build_object('tool', c.tool, 'called_as', c.called_as, 'verdict', c.verdict,
                'args', coalesce(m.calls -> c.index -> 'args', c.args), 'ran', c.args, 'hooked', c.hooks is not null,
                'approval', case when a.id is not null then jsonb_build_object('status', a.status, 'by', a.decided_by) end,
                'ok', c.ok, 'code', nullif(c.code, ''), 'result', c.result) order by c.index)
              from tool_calls c left join approvals a on a.tenant_id = c.tenant_id and a.id = c.approval_id
              where c.tenant_id = t.tenant_id and c.turn_id = t.id and c.step = m.step), '[]')) order by m.step)
          from messages m where m.tenant_id = t.tenant_id and m.turn_id = t.id and m.role = 'assistant'), '[]')) order by t.first)
      from (select x.*, (select min(m.position) from messages m where m.tenant_id = x.tenant_id and m.turn_id = x.id) as first
              from turns x where x.tenant_id = s.tenant_id and x.session_key = s.key and x.started_at is not null
              order by first limit ${turns}) t), '[]') as turns
    from sessions s where s.tenant_id = ${db} and s.key = ${key}`;
}
