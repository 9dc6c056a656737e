/** Approvals that ask users for logins at MCP servers. */
import type { Pool } from '#store/postgres/pool.ts';
import { readRows } from '#store/postgres/statements.ts';
import type { TenantDb } from '#store/postgres/tenant-db.ts';

export interface WaitingLogin {
  readonly tenant: string;
  readonly approval: string;
  readonly user: string;
}

/** Approvals that one login ends, or one look of the sweep. */
const MAX = 200;

export function waitingLogins(db: TenantDb, server: string, user: string): Promise<WaitingLogin[]> {
  return readRows<WaitingLogin>(db)`
    select tenant_id as tenant, id as approval, user_id as user from approvals
    where tenant_id = ${db} and status = 'pending' and user_id = ${user}
      and form ->> 'login' = 'mcp' and form ->> 'server' = ${server} limit ${MAX}`;
}

/**
 * For the sweep, over all tenants: those whose user has logged in since, or in the moment before they were created, when
 * a call had seen no login yet.
 */
export function endedLogins(pool: Pool): Promise<WaitingLogin[]> {
  return readRows<WaitingLogin>(pool)`
    select a.tenant_id as tenant, a.id as approval, a.user_id as user from approvals a
    join mcp_servers s on s.tenant_id = a.tenant_id and s.name = a.form ->> 'server'
    join mcp_credentials c on c.tenant_id = s.tenant_id and c.server_id = s.id and c.user_id = a.user_id
    where a.status = 'pending' and a.form ->> 'login' = 'mcp' and c.given_at > a.created_at - interval '1 minute'
      and a.tenant_id not in (select id from tenants where frozen_at is not null) limit ${MAX}`;
}
