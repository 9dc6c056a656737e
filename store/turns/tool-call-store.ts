/** The ledger of calls as the API reads it. */
import type { HookRun } from '#domain/turn/hook.ts';
import type { StoredImage } from '#domain/model/image.ts';
import type { RunningBefore } from '#domain/turn/session-queries.ts';
import type { Pool } from '../postgres/pool.ts';
import { readRow, readRows, type RowOf } from '../postgres/statements.ts';
import type { TenantDb } from '../postgres/tenant-db.ts';

export interface ToolCallRow
  extends RowOf<'tool_calls', 'summary' | 'args' | 'digest' | 'fence' | 'attempts' | 'child' | Hidden> {
  readonly args: Record<string, unknown>;
  readonly images: readonly StoredImage[] | null;
  readonly hooks: HookRun[] | null;
  readonly changed_files: readonly string[] | null;
  /** That its turn runs with. */
  readonly agent_revision: number | null;
}

type Hidden = 'hooks' | 'images' | 'args_sealed' | 'changed_files' | 'custom_tool_revision';

/** Calls are in the order of the requests; `after` is [step, index] of the last one on the previous page. */
export function listToolCalls(
  db: TenantDb,
  turn: string,
  limit: number,
  after: readonly [step: number, index: number],
  lastStep?: number,
): Promise<ToolCallRow[]> {
  return readRows<ToolCallRow>(db)`
    select id, session_key, turn_id, step, index, tool, called_as, args, verdict, reason, hooks, approval_id, state, ok, code,
      result, whole_id, images, custom_tool_id, changed_files, created_at, started_at, ended_at,
       (select t.agent_revision from turns t where t.tenant_id = ${db} and t.id = tool_calls.turn_id) as agent_revision
     from tool_calls where tenant_id = ${db} and turn_id = ${turn} and (step, index) > (${after[0]}, ${after[1]})
       and (${lastStep}::int is null or step <= ${lastStep})
     order by step, index limit ${limit}`;
}

/** The call of a turn without a model (an invocation); undefined for a turn that a model answers. */
export async function findInvokedCall(db: TenantDb, turn: string): Promise<ToolCallRow | undefined> {
  const row = await readRow<{ invoked: boolean }>(db)`select exists (select from messages m join turns t
     on t.tenant_id = m.tenant_id and t.session_key = m.session_key and t.id = m.turn_id
     where t.tenant_id = ${db} and t.id = ${turn} and m.role = 'user' and m.calls is not null) as invoked`;
  return row?.invoked ? (await listToolCalls(db, turn, 1, [-1, -1]))[0] : undefined;
}

/** Whether the turn does nothing but wait for work that its calls have given away. */
export async function waitsForWork(
  db: TenantDb,
  { session, id }: { readonly session: string; readonly id: string },
): Promise<boolean> {
  const row = await readRow<{ waits: boolean }>(db)`
    with given as (select origin_call from assignments where tenant_id = ${db} and origin_session = ${session}
      and origin_turn = ${id} and mode = 'sync' and ended_at is null)
    select exists (select from given) and not exists (select from tool_calls where tenant_id = ${db} and turn_id = ${id}
      and state <> 'done' and id not in (select origin_call from given)) as waits`;
  return row?.waits === true;
}

/** The progress of a call. */
export type CallProgress = Pick<RowOf<'tool_calls'>, 'state' | 'ok' | 'code' | 'ended_at'>;

export function findCallProgress(db: TenantDb, id: string): Promise<CallProgress | undefined> {
  return readRow<CallProgress>(db)`
    select state, ok, code, ended_at from tool_calls where tenant_id = ${db} and id = ${id}`;
}

/** The whole output of a call: the stored one, otherwise what the model read; null while it runs. */
export function findWholeResult(
  db: TenantDb,
  call: string,
): Promise<{ readonly text: string | null; readonly session_key: string } | undefined> {
  return readRow<{ text: string | null; session_key: string }>(db)`
    select coalesce(r.text, c.result) as text, c.session_key from tool_calls c
     left join tool_results r on r.tenant_id = c.tenant_id and r.id = c.whole_id
     where c.tenant_id = ${db} and c.id = ${call}`;
}

/** Claims of a session are sequential, so their times give the order. */
export function createRunningBefore(pool: Pool): RunningBefore {
  return async ({ tenant, callId }) => {
    const row = await readRow<{ count: number }>(pool)`select count(*)::int as count
       from tool_calls own join tool_calls other
         on other.tenant_id = own.tenant_id and other.turn_id = own.turn_id and other.tool = own.tool
       where own.tenant_id = ${tenant} and own.id = ${callId}
         and other.state = 'running' and other.started_at < own.started_at`;
    return row?.count ?? 0;
  };
}
