/** The ledger of calls as the API reads it. */
import type { Pool } from './pool.ts';
import { readRow, readRows, type RowOf } from './statements.ts';

export interface ToolCallRow
  extends RowOf<'tool_calls', 'summary' | 'args' | 'digest' | 'fence' | 'child' | Hidden> {
  readonly args: Record<string, unknown>;
}

type Hidden = 'args_sealed' | 'custom_tool_id' | 'custom_tool_revision';

/** In the order they were asked for; `after` is [step, index] of the last one before. */
export function listToolCalls(
  pool: Pool,
  tenant: string,
  turn: string,
  limit: number,
  after: readonly [step: number, index: number],
): Promise<ToolCallRow[]> {
  return readRows<ToolCallRow>(pool)`
    select id, session_key, turn_id, step, index, tool, asked_as, args, verdict, reason, approval_id, state, ok, code,
      result,
       whole_id, created_at, started_at, ended_at
     from tool_calls where tenant_id = ${tenant} and turn_id = ${turn} and (step, index) > (${after[0]}, ${after[1]})
     order by step, index limit ${limit}`;
}

/** Everything a call gave: the whole that was kept beside it, else what the model read; null while it runs. */
export function findWholeResult(
  pool: Pool,
  tenant: string,
  call: string,
): Promise<{ readonly text: string | null; readonly session_key: string } | undefined> {
  return readRow<{ text: string | null; session_key: string }>(pool)`
    select coalesce(r.text, c.result) as text, c.session_key from tool_calls c
     left join tool_results r on r.tenant_id = c.tenant_id and r.id = c.whole_id
     where c.tenant_id = ${tenant} and c.id = ${call}`;
}
