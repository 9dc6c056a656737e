/** What holds for all agents of a tenant, and what people there allowed always. */
import type { AgentConfig } from '#domain/agent.ts';
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

/** Replaces it whole. Calls that are judged from now on are judged by it. */
export async function saveTenantPolicy(pool: Pool, tenant: string, policy: TenantPolicy): Promise<void> {
  await pool.query('update tenants set policy = $2 where id = $1', [tenant, JSON.stringify(policy)]);
}

export interface RulesOfAgent {
  readonly agent: AgentConfig;
  readonly tenant_policy: TenantPolicy | null;
  readonly allowlist: readonly { readonly tool: string; readonly pattern: string }[];
}

/** All rows by which a call of the agent for the user is judged; undefined when there is no such agent. */
export async function findRulesOfAgent(
  pool: Pool,
  tenant: string,
  agent: string,
  user: string | null,
): Promise<RulesOfAgent | undefined> {
  const { rows } = await pool.query<RulesOfAgent>(
    `select a.config as agent, n.policy as tenant_policy, allowlist_of(a.tenant_id, a.key, $3) as allowlist
     from agents a join tenants n on n.id = a.tenant_id
     where a.tenant_id = $1 and a.key = $2 and a.deleted_at is null`,
    [tenant, agent, user],
  );
  return rows[0];
}
