/** Where a session's browser was according to the last result that says so. A new browser does not know it. */
import { readRow } from '#store/postgres/statements.ts';
import type { TenantDb } from '#store/postgres/tenant-db.ts';

/** Reads the session's last turns; returns undefined when none of them says it. */
export async function lastBrowserPage(db: TenantDb, session: string): Promise<string | undefined> {
  const row = await readRow<{ page: string }>(db)`
    select substring(c.result from '^Page: ([^ ]+)') as page
      from (select id, created_at from turns where tenant_id = ${db} and session_key = ${session}
             order by created_at desc limit 20) t
      join tool_calls c on c.tenant_id = ${db} and c.turn_id = t.id
     where c.tool = 'browser' and c.state = 'done' and c.result ~ '^Page: http'
     order by t.created_at desc, c.step desc, c.index desc limit 1`;
  return row?.page;
}
