/** The version of the tools that a tenant has added. */
import { readRow } from '../postgres/statements.ts';
import type { TenantDb } from '../postgres/tenant-db.ts';

/** Grows with each change of the tenant's custom tools; 0 while there was none. */
export async function readToolsVersion(db: TenantDb): Promise<number> {
  const row = await readRow<{ version: number }>(db)`
    select version::int as version from changes where tenant_id = ${db} and kind = 'custom_tools'`;
  return row?.version ?? 0;
}
