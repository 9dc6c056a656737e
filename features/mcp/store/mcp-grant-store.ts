/** Stores grants on MCP servers (MC-3). */
import { sql } from 'kysely';
import type { McpGrant } from '../rules/grants.ts';
import { lockMcpServer } from './mcp-server-store.ts';
import { noteChange } from '#store/postgres/change-feed.ts';
import { affects, readRow, readRows } from '#store/postgres/statements.ts';
import type { TenantDb, TenantTx } from '#store/postgres/tenant-db.ts';

export interface McpGrantRow extends McpGrant {
  readonly updated_by: string;
  readonly updated_at: Date;
}

/** Grants of a server; each call reads all of them. */
export const MAX_MCP_GRANTS = 500;

const COLUMNS = sql`kind, subject, tool_allow, tool_deny, enabled, config_overrides, updated_by, updated_at`;

/** Creates or replaces it; undefined when it would exceed the limit. Safe to repeat. */
export async function putMcpGrant(
  tx: TenantTx,
  server: string,
  { kind, subject, tool_allow, tool_deny, enabled, config_overrides, by }: McpGrant & { readonly by: string },
): Promise<McpGrantRow | undefined> {
  await lockMcpServer(tx, server);
  return readRow<McpGrantRow>(tx)`with saved as (
     insert into mcp_grants (tenant_id, server_id, kind, subject, tool_allow, tool_deny, enabled, config_overrides, updated_by)
     select ${tx}, ${server}, ${kind}, ${subject}, ${[...tool_allow]}, ${[...tool_deny]}, ${enabled}, ${JSON.stringify(config_overrides)}, ${by}
     where (select count(*) from mcp_grants where tenant_id = ${tx} and server_id = ${server}
       and (kind, subject) <> (${kind}, ${subject})) < ${MAX_MCP_GRANTS}
     on conflict (tenant_id, server_id, kind, subject) do update set tool_allow = excluded.tool_allow,
       tool_deny = excluded.tool_deny, enabled = excluded.enabled, config_overrides = excluded.config_overrides,
       updated_by = excluded.updated_by, updated_at = now()
     returning ${COLUMNS}),
   ${noteChange(tx.tenant, 'custom_tools', 'saved')}
   select ${COLUMNS} from saved`;
}

/** Returns false when there was none. */
export function deleteMcpGrant(
  db: TenantDb,
  server: string,
  { kind, subject }: Pick<McpGrant, 'kind' | 'subject'>,
): Promise<boolean> {
  return affects(db)`with gone as (
     delete from mcp_grants where tenant_id = ${db} and server_id = ${server} and kind = ${kind} and subject = ${subject}
     returning subject),
   ${noteChange(db.tenant, 'custom_tools', 'gone')}
   select from gone`;
}

export function listMcpGrants(db: TenantDb, server: string): Promise<McpGrantRow[]> {
  return readRows<McpGrantRow>(db)`
    select ${COLUMNS} from mcp_grants where tenant_id = ${db} and server_id = ${server} order by kind, subject`;
}
