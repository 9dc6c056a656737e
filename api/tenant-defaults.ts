/** Ensures that every tenant has its agent `main`, however the tenant was made. */
import { insertAgent } from '#store/agent-store.ts';
import type { Pool } from '#store/postgres/pool.ts';
import { type TenantDb, forTenant } from '#store/postgres/tenant-db.ts';
import type { ModelDirectory } from './deps.ts';

export const MAIN_AGENT = 'main';

/** Runs once per tenant and process, and again after a failure. */
export function createTenantCare(pool: Pool, models: ModelDirectory): (tenant: string) => Promise<void> {
  const done = new Map<string, Promise<void>>();
  return (tenant) => {
    const known = done.get(tenant);
    if (known) return known;
    const made = makeMainAgent(forTenant(pool, tenant), models).catch((error: unknown) => {
      done.delete(tenant);
      throw error;
    });
    done.set(tenant, made);
    return made;
  };
}

/**
 * Makes the agent with the best configured model, which is `rehearsal/welcome` when there is no other. Is safe to run
 * again.
 */
async function makeMainAgent(db: TenantDb, models: ModelDirectory): Promise<void> {
  await insertAgent(db, { key: MAIN_AGENT, type: 'open', model: models.best() }, 'system');
}
