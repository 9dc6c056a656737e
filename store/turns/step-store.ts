/** Steps of turns as the API reads them. */
import { sql } from 'kysely';
import { readRow, readRows } from '../postgres/statements.ts';
import type { TenantDb } from '../postgres/tenant-db.ts';
import type { MessageRow } from './message-store.ts';

export interface StepRow {
  readonly step: number;
  readonly model: string | null;
  readonly attempt: number | null;
  readonly text: string;
  readonly finish: string | null;
  readonly input_tokens: string;
  readonly output_tokens: string;
  readonly cached_tokens: string;
  readonly cost_usd: string | null;
  readonly started_at: Date;
  readonly ended_at: Date;
  /** Of the answer in the transcript. */
  readonly position: string;
  /** Of the answer of the step before. */
  readonly position_before: string | null;
}

const TEXT = 300;

/**
 * The steps after `after` whose model has answered, in order. A step begins when the answer and all calls of the one
 * before are over. One that a fork has copied is older than its turn, and takes no time.
 */
export function listSteps(
  db: TenantDb,
  turn: string,
  limit: number,
  after: number,
  text = TEXT,
): Promise<StepRow[]> {
  const tokens = (field: string) => sql`coalesce((m.usage ->> ${sql.lit(field)})::bigint, 0)`;
  return readRows<StepRow>(db)`
    select m.step, m.model, m.attempt, left(m.text, ${text}) as text, m.finish, m.usd as cost_usd, m.position,
      ${tokens('inputTokens')} as input_tokens, ${tokens('outputTokens')} as output_tokens,
      ${tokens('cachedInputTokens')} as cached_tokens,
      least(m.created_at, greatest(coalesce(t.started_at, t.created_at), b.created_at, calls.ended_at)) as started_at,
      m.created_at as ended_at,
      b.position as position_before
    from messages m join turns t on t.tenant_id = m.tenant_id and t.id = m.turn_id
    -- With the limit, Postgres looks each up by the index, also before it has statistics of a long turn.
    left join lateral (select created_at, position from messages b where b.tenant_id = m.tenant_id and b.turn_id = m.turn_id
      and b.step = m.step - 1 and b.role = 'assistant' limit 1) b on true
    left join lateral (select max(ended_at) as ended_at from tool_calls c
      where c.tenant_id = m.tenant_id and c.turn_id = m.turn_id and c.step = m.step - 1) calls on true
    where m.tenant_id = ${db} and m.turn_id = ${turn} and m.role = 'assistant' and m.step > ${after}
    order by m.step limit ${limit}`;
}

export interface StepCallRow {
  readonly id: string;
  readonly step: number;
  readonly index: number;
  readonly tool: string;
  readonly summary: string;
  readonly verdict: 'allow' | 'ask' | 'deny';
  readonly state: 'requested' | 'running' | 'done';
  readonly ok: boolean | null;
  readonly code: string | null;
  readonly attempts: number;
  readonly created_at: Date;
  readonly started_at: Date | null;
  readonly ended_at: Date | null;
  readonly approval_id: string | null;
  readonly status: string | null;
  readonly decided_by: string | null;
  readonly asked_at: Date | null;
  readonly decided_at: Date | null;
}

/** The calls of the steps from one to another, in order. */
export function listStepCalls(db: TenantDb, turn: string, from: number, to: number): Promise<StepCallRow[]> {
  return readRows<StepCallRow>(db)`
    select c.id, c.step, c.index, c.tool, c.summary, c.verdict, c.state, c.ok, c.code, c.attempts, c.created_at,
      c.started_at, c.ended_at, a.id as approval_id, a.status, a.decided_by, a.created_at as asked_at, a.decided_at
    from tool_calls c left join approvals a on a.tenant_id = c.tenant_id and a.id = c.approval_id
    where c.tenant_id = ${db} and c.turn_id = ${turn} and c.step between ${from} and ${to}
    order by c.step, c.index`;
}

/** New messages of people that a step read, oldest first; a turn takes at most a few hundred. */
export function listReadMessages(
  db: TenantDb,
  { session, turn }: { readonly session: string; readonly turn: string },
  { position, position_before: before }: StepRow,
): Promise<MessageRow[]> {
  return readRows<MessageRow>(db)`
    select id, role, text, turn_id, step, position, calls, model, created_at from messages
    where tenant_id = ${db} and session_key = ${session} and turn_id = ${turn} and role = 'user'
      and position < ${position} and position > ${before ?? Number(position) - 1_000}
    order by position`;
}

export interface FirstDifference {
  readonly step: number;
  readonly end: boolean;
  readonly model: boolean;
  readonly text: boolean;
  readonly tools: boolean;
  readonly arguments: boolean;
  readonly results: boolean;
}

/** Undefined when the steps of both turns are equal. Results are compared by their digests, since they may be long. */
export function findFirstDifference(
  db: TenantDb,
  turn: string,
  other: string,
): Promise<FirstDifference | undefined> {
  const stepsOf = (id: string) => sql`
    select m.step, m.model, m.text, c.tools, c.arguments, c.results
    from messages m left join (
      select step, jsonb_agg(tool order by index) as tools, md5(jsonb_agg(args order by index)::text) as arguments,
        md5(jsonb_agg(jsonb_build_array(ok, code, result) order by index)::text) as results
      from tool_calls where tenant_id = ${db} and turn_id = ${id} group by step) c on c.step = m.step
    where m.tenant_id = ${db} and m.turn_id = ${id} and m.role = 'assistant'`;
  const differs = (name: string) =>
    sql`a.${sql.ref(name)} is distinct from b.${sql.ref(name)} as ${sql.ref(name)}`;
  return readRow<FirstDifference>(db)`
    select step, a.model is null or b.model is null as end, ${differs('model')}, ${differs('text')}, ${differs('tools')},
      ${differs('arguments')}, ${differs('results')}
    from (${stepsOf(turn)}) a full join (${stepsOf(other)}) b using (step)
    where (a.model, a.text, a.tools, a.arguments, a.results)
      is distinct from (b.model, b.text, b.tools, b.arguments, b.results)
    order by step limit 1`;
}
