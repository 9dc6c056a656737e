/** Where a session's browser was, as the last result that tells it says: what a new browser does not know. */
import type { Pool } from '#store/pool.ts';
import { readRow } from '#store/statements.ts';

/** Looks at the session's last turns; undefined when none of them tells. */
export async function lastBrowserPage(
  pool: Pool,
  tenant: string,
  session: string,
): Promise<string | undefined> {
  const row = await readRow<{ page: string }>(pool)`
    select substring(c.result from '^Page: ([^ ]+)') as page
      from (select id, created_at from turns where tenant_id = ${tenant} and session_key = ${session}
             order by created_at desc limit 20) t
      join tool_calls c on c.tenant_id = ${tenant} and c.turn_id = t.id
     where c.tool = 'browser' and c.state = 'done' and c.result ~ '^Page: http'
     order by t.created_at desc, c.step desc, c.index desc limit 1`;
  return row?.page;
}
