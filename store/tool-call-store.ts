/** The ledger of calls as the API reads it. */
import type { Pool } from './pool.ts';

export interface ToolCallRow {
  readonly id: string;
  readonly session_key: string;
  readonly turn_id: string;
  readonly step: number;
  readonly index: number;
  readonly tool: string;
  readonly asked_as: string;
  readonly args: Record<string, unknown>;
  readonly verdict: 'allow' | 'ask' | 'deny';
  readonly reason: string | null;
  readonly approval_id: string | null;
  readonly state: 'requested' | 'running' | 'done';
  readonly ok: boolean | null;
  readonly code: string | null;
  readonly result: string | null;
  readonly whole_id: string | null;
  readonly created_at: Date;
  readonly started_at: Date | null;
  readonly ended_at: Date | null;
}

/** In the order they were asked for; `after` is [step, index] of the last one before. */
export async function listToolCalls(
  pool: Pool,
  tenant: string,
  turn: string,
  limit: number,
  after: readonly [step: number, index: number],
): Promise<ToolCallRow[]> {
  const { rows } = await pool.query<ToolCallRow>(
    `select id, session_key, turn_id, step, index, tool, asked_as, args, verdict, reason, approval_id, state, ok, code, result,
       whole_id, created_at, started_at, ended_at
     from tool_calls where tenant_id = $1 and turn_id = $2 and (step, index) > ($4, $5)
     order by step, index limit $3`,
    [tenant, turn, limit, after[0], after[1]],
  );
  return rows;
}

/** Everything a call gave: the whole that was kept beside it, else what the model read; null while it runs. */
export async function findWholeResult(
  pool: Pool,
  tenant: string,
  call: string,
): Promise<{ readonly text: string | null; readonly session_key: string } | undefined> {
  const { rows } = await pool.query<{ text: string | null; session_key: string }>(
    `select coalesce(r.text, c.result) as text, c.session_key from tool_calls c
     left join tool_results r on r.tenant_id = c.tenant_id and r.id = c.whole_id
     where c.tenant_id = $1 and c.id = $2`,
    [tenant, call],
  );
  return rows[0];
}
