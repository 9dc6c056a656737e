/** What a tenant's row says beside its name. */
import type { TenantPolicy } from '#domain/tenant.ts';
import type { Pool } from './pool.ts';

/** Null when the tenant sets none. */
export async function findTenantPolicy(pool: Pool, tenant: string): Promise<TenantPolicy | null> {
  const { rows } = await pool.query<{ policy: TenantPolicy | null }>(
    'select policy from tenants where id = $1',
    [tenant],
  );
  return rows[0]?.policy ?? null;
}
