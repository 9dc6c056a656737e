/** Which tenants have work that an agent gave away and that is not over. */
import type { Pool } from './pool.ts';

const MOST_TENANTS = 1_000;

/** Of all tenants: for workers themselves, never for a caller. */
export async function tenantsWithOpenWork(pool: Pool, olderThanSeconds: number): Promise<readonly string[]> {
  const { rows } = await pool.query<{ tenant_id: string }>(
    `with old as (select now() - make_interval(secs => $1) as time)
     select tenant_id from subagents, old where ended_at is null and created_at < time
     union select tenant_id from delegations, old where ended_at is null and created_at < time
     union select tenant_id from evaluations, old where ended_at is null and created_at < time
     limit ${MOST_TENANTS}`,
    [olderThanSeconds],
  );
  return rows.map(({ tenant_id }) => tenant_id);
}
