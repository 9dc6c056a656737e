/** Whether a turn has made a certain call before, from its ledger. */
import { affects } from '../postgres/statements.ts';
import type { TenantDb } from '../postgres/tenant-db.ts';

export function hasCalledBefore(
  db: TenantDb,
  turn: string,
  tool: string,
  actions: readonly string[],
): Promise<boolean> {
  return affects(db)`
    select 1 from tool_calls where tenant_id = ${db} and turn_id = ${turn} and tool = ${tool} and state = 'done'
      and ok
       and args ->> 'action' = any (${[...actions]}) limit 1`;
}
