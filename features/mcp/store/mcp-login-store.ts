/** Logins at MCP servers for which calls still wait. */
import { MAX_LOGINS, type WaitingLogin } from '#store/approvals/approval-logins.ts';
import type { Pool } from '#store/postgres/pool.ts';
import { readRows } from '#store/postgres/statements.ts';

/**
 * For the sweep, over all tenants: approvals whose user has logged in since, or in the moment before they were created,
 * when a call had seen no login yet.
 */
export function endedLogins(pool: Pool): Promise<WaitingLogin[]> {
  return readRows<WaitingLogin>(pool)`
    select a.tenant_id as tenant, a.id as approval, a.user_id as user from approvals a
    join mcp_servers s on s.tenant_id = a.tenant_id and s.name = a.form ->> 'server'
    join mcp_credentials c on c.tenant_id = s.tenant_id and c.server_id = s.id and c.user_id = a.user_id
    where a.status = 'pending' and a.form ->> 'login' = 'mcp' and c.given_at > a.created_at - interval '1 minute'
      and a.tenant_id not in (select id from tenants where frozen_at is not null) limit ${MAX_LOGINS}`;
}
