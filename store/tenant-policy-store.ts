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

/** Replaces it whole, and notes who did where that changes anything. Calls that are judged from now on are judged by it. */
export async function saveTenantPolicy(
  pool: Pool,
  tenant: string,
  policy: TenantPolicy,
  by: string,
): Promise<void> {
  await pool.query(
    `with old as (select policy from tenants where id = $1 for update),
     noted as (
       insert into policy_changes (tenant_id, before, after, changed_by)
       select $1, old.policy, $2, $3 from old where old.policy is distinct from $2::jsonb)
     update tenants set policy = $2 from old where tenants.id = $1`,
    [tenant, JSON.stringify(policy), by],
  );
}

export interface PolicyChange {
  /** A number, as text. */
  readonly id: string;
  readonly before: TenantPolicy | null;
  readonly after: TenantPolicy;
  readonly changed_by: string;
  readonly changed_at: Date;
}

/** Newest first; `beforeId` is the last one of the page before. */
export async function listPolicyChanges(
  pool: Pool,
  tenant: string,
  limit: number,
  beforeId: string | undefined,
): Promise<PolicyChange[]> {
  const { rows } = await pool.query<PolicyChange>(
    `select id::text, before, after, changed_by, changed_at from policy_changes
     where tenant_id = $1 and ($3::bigint is null or id < $3) order by id desc limit $2`,
    [tenant, limit, beforeId ?? null],
  );
  return rows;
}

export async function findPolicyChange(
  pool: Pool,
  tenant: string,
  id: string,
): Promise<PolicyChange | undefined> {
  const { rows } = await pool.query<PolicyChange>(
    'select id::text, before, after, changed_by, changed_at from policy_changes where tenant_id = $1 and id = $2',
    [tenant, id],
  );
  return rows[0];
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
