/** The policy for all agents of a tenant, and what its people have allowed permanently. */
import type { AgentConfig } from '#domain/agent.ts';
import type { TenantPolicy } from '#domain/tenant.ts';
import type { Db } from './postgres/database.ts';
import { execute, readRow, readRows } from './postgres/statements.ts';
import type { TenantDb } from './postgres/tenant-db.ts';
import { inTenantLock, inTransaction } from './postgres/transaction.ts';

/** Null when the tenant sets none. */
export async function findTenantPolicy(db: TenantDb): Promise<TenantPolicy | null> {
  const row = await readRow<{ policy: TenantPolicy | null }>(db)`
    select policy from tenants where id = ${db}`;
  return row?.policy ?? null;
}

/**
 * Replaces the whole policy, and records the author if that changes anything. Calls that are judged from now on use it.
 */
export async function saveTenantPolicy(db: TenantDb<Db>, policy: TenantPolicy, by: string): Promise<void> {
  const after = JSON.stringify(policy);
  await execute(db)`
    with old as (select policy from tenants where id = ${db} for no key update),
    noted as (
      insert into policy_changes (tenant_id, before, after, changed_by)
      select ${db}, old.policy, ${after}, ${by} from old where old.policy is distinct from ${after}::jsonb)
    update tenants set policy = ${after} from old where tenants.id = ${db}`;
}

/** The same while `seen` is its newest change. Resolves with false when somebody has changed it since. */
export function replaceTenantPolicy(
  db: TenantDb,
  policy: TenantPolicy,
  by: string,
  seen: string,
): Promise<boolean> {
  return inTenantLock(db, async (tx) => {
    if ((await findPolicyWithChange(tx)).change !== seen) return false;
    await saveTenantPolicy(tx, policy, by);
    return true;
  });
}

/** The policy and the id of its newest change, as of one instant; the id is `0` when it was never changed. */
export async function findPolicyWithChange(
  db: TenantDb<Db>,
): Promise<{ readonly policy: TenantPolicy; readonly change: string }> {
  const row = await readRow<{ policy: TenantPolicy | null; change: string }>(db)`
    select policy, coalesce((select max(c.id) from policy_changes c where c.tenant_id = ${db}), 0)::text as change
      from tenants where id = ${db}`;
  return { policy: row?.policy ?? {}, change: row?.change ?? '0' };
}

/** Switches one tool for all agents of the tenant; concurrent changes to the rest of the policy stay. */
export function switchTool(db: TenantDb, tool: string, isOn: boolean, by: string): Promise<void> {
  return inTransaction(db, async (tx) => {
    const row = await readRow<{ policy: TenantPolicy | null }>(tx)`
      select policy from tenants where id = ${tx} for no key update`;
    const { tools, ...rest } = row?.policy ?? {};
    const others = (tools?.disabled ?? []).filter((name) => name !== tool);
    const { disabled: _before, ...lists } = tools ?? {};
    const disabled = isOn ? others : [...others, tool];
    const after = { ...lists, ...(disabled.length > 0 && { disabled }) };
    await saveTenantPolicy(tx, { ...rest, ...(Object.keys(after).length > 0 && { tools: after }) }, by);
  });
}

export interface PolicyChange {
  /** A number, as text. */
  readonly id: string;
  readonly before: TenantPolicy | null;
  readonly after: TenantPolicy;
  readonly changed_by: string;
  readonly changed_at: Date;
}

/** Newest first; `beforeId` is the last one of the previous page. */
export function listPolicyChanges(
  db: TenantDb,
  limit: number,
  beforeId: string | undefined,
): Promise<PolicyChange[]> {
  return readRows<PolicyChange>(db)`
    select id::text, before, after, changed_by, changed_at from policy_changes
     where tenant_id = ${db} and (${beforeId}::bigint is null or id < ${beforeId}) order by id desc limit ${limit}`;
}

export function findPolicyChange(db: TenantDb, id: string): Promise<PolicyChange | undefined> {
  return readRow<PolicyChange>(db)`
    select id::text, before, after, changed_by, changed_at from policy_changes
      where tenant_id = ${db} and id = ${id}`;
}

export interface RulesOfAgent {
  readonly agent: AgentConfig;
  readonly tenant_policy: TenantPolicy | null;
  readonly allowlist: readonly { readonly tool: string; readonly pattern: string }[];
}

/** All rows by which a call of the agent for the user is judged; undefined when the agent does not exist. */
export function findRulesOfAgent(
  db: TenantDb,
  agent: string,
  user: string | null,
): Promise<RulesOfAgent | undefined> {
  return readRow<RulesOfAgent>(db)`
    select a.config as agent, n.policy as tenant_policy, allowlist_of(a.tenant_id, a.key, ${user}) as allowlist
     from agents a join tenants n on n.id = a.tenant_id
     where a.tenant_id = ${db} and a.key = ${agent} and a.deleted_at is null`;
}
