/** Whether a turn has done something before, asked of its ledger. */
import type { Pool } from './pool.ts';

export async function hasCalledBefore(
  pool: Pool,
  tenant: string,
  turn: string,
  tool: string,
  actions: readonly string[],
): Promise<boolean> {
  const { rows } = await pool.query(
    `select 1 from tool_calls where tenant_id = $1 and turn_id = $2 and tool = $3 and state = 'done' and ok
       and args ->> 'action' = any ($4) limit 1`,
    [tenant, turn, tool, [...actions]],
  );
  return rows.length > 0;
}
