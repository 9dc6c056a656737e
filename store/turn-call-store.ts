/** Whether a turn has made a certain call before, from its ledger. */
import type { Pool } from './pool.ts';
import { affects } from './statements.ts';

export function hasCalledBefore(
  pool: Pool,
  tenant: string,
  turn: string,
  tool: string,
  actions: readonly string[],
): Promise<boolean> {
  return affects(pool)`
    select 1 from tool_calls where tenant_id = ${tenant} and turn_id = ${turn} and tool = ${tool} and state = 'done'
      and ok
       and args ->> 'action' = any (${[...actions]}) limit 1`;
}
