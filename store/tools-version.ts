/** The version of the tools that a tenant has added. */
import type { Pool } from './pool.ts';
import { readRow } from './statements.ts';

/** Grows with each change of the tenant's custom tools; 0 while there was none. */
export async function readToolsVersion(pool: Pool, tenant: string): Promise<number> {
  const row = await readRow<{ version: number }>(pool)`
    select version::int as version from changes where tenant_id = ${tenant} and kind = 'custom_tools'`;
  return row?.version ?? 0;
}
