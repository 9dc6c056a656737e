/** Where a tenant's tools and servers may connect: the settings, narrowed by its policy. */
import type { UrlRules } from '@tempoclaw/egress/rules';
import { effectiveEgress } from '#domain/policy/effective-egress.ts';
import type { Pool } from '#store/postgres/pool.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { findTenantPolicy } from '#store/tenant-policy-store.ts';

export async function tenantEgress(
  pool: Pool,
  settings: Parameters<typeof effectiveEgress>[0],
  tenant: string,
): Promise<UrlRules> {
  return effectiveEgress(settings, [(await findTenantPolicy(forTenant(pool, tenant)))?.egress]);
}
