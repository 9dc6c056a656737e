/** What a tenant's row says beside its name. */
import type { TenantPolicy } from '#domain/tenant.ts';
import type { Pool } from './pool.ts';
import { readRow } from './statements.ts';

/** Null when the tenant sets none. */
export async function findTenantPolicy(pool: Pool, tenant: string): Promise<TenantPolicy | null> {
  const row = await readRow<{ policy: TenantPolicy | null }>(
    pool,
  )`select policy from tenants where id = ${tenant}`;
  return row?.policy ?? null;
}
