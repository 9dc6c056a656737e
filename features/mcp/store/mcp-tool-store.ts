/**
 * Stores tools of MCP servers: what each server lists, and what people have agreed to. A tool that its server changes
 * later (a rug pull) thus needs consent again.
 */
import { sql } from 'kysely';
import type { McpGrant } from '../rules/grants.ts';
import type { McpServerConfig, McpToolDefinition } from '../rules/server.ts';
import { noteChange } from '#store/postgres/change-feed.ts';
import type { McpServerToUse } from './mcp-server-store.ts';
import type { Pool } from '#store/postgres/pool.ts';
import { execute, readRow, readRows } from '#store/postgres/statements.ts';
import type { TenantDb } from '#store/postgres/tenant-db.ts';
import { inTransaction } from '#store/postgres/transaction.ts';

export interface McpToolRow {
  readonly server_id: string;
  readonly name: string;
  readonly id: string;
  readonly revision: number;
  readonly pinned: McpToolDefinition | null;
  readonly pinned_hash: string | null;
  readonly found: McpToolDefinition | null;
  readonly found_hash: string | null;
}

export interface ListedTool {
  readonly definition: McpToolDefinition;
  readonly hash: string;
}

const COLUMNS = sql`server_id, name, id, revision, pinned, pinned_hash, found, found_hash`;

/**
 * Records what a server lists now. The first list has consent, because an admin added the server; later differences
 * wait for consent. A user may have fewer tools than others, so a tool missing there is not gone.
 */
export function recordListed(
  pool: Pool,
  { tenant, id, revision }: Pick<McpServerToUse, 'tenant' | 'id' | 'revision'>,
  listed: readonly ListedTool[],
  ofUser = false,
): Promise<void> {
  return inTransaction(pool, async (tx) => {
    const server = await readRow<{ consented: boolean }>(tx)`
      select consented_at is not null as consented from mcp_servers
      where tenant_id = ${tenant} and id = ${id} and revision = ${revision} for update`;
    if (!server) return;
    const rows = listed.map(({ definition, hash }) => ({ name: definition.name, definition, hash }));
    const isFirst = !server.consented;
    const changed = await execute(tx)`
      insert into mcp_tools (tenant_id, server_id, name, found, found_hash, pinned, pinned_hash)
      select ${tenant}, ${id}, x.name, x.definition, x.hash, case when ${isFirst} then x.definition end,
             case when ${isFirst} then x.hash end
      from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as x(name text, definition jsonb, hash text)
      on conflict (tenant_id, server_id, name) do update set found = excluded.found, found_hash = excluded.found_hash
      where mcp_tools.found_hash is distinct from excluded.found_hash`;
    const gone = ofUser
      ? 0
      : await execute(tx)`
      update mcp_tools set found = null, found_hash = null
      where tenant_id = ${tenant} and server_id = ${id} and found_hash is not null
        and name <> all (${rows.map(({ name }) => name)}::text[])`;
    await execute(tx)`
      update mcp_servers set consented_at = coalesce(consented_at, now()), status = 'ready', error = null
      where tenant_id = ${tenant} and id = ${id}`;
    if (changed + gone > 0)
      await execute(tx)`
        with changed as (select 1), ${noteChange(tenant, 'custom_tools', 'changed')} select from changed`;
  });
}

/**
 * Agrees to tools in their server's current form: all, or those that still have the requested hash. Resolves with the
 * names.
 */
export async function consentToTools(
  db: TenantDb,
  server: string,
  picked: readonly { readonly name: string; readonly hash: string }[] | undefined,
): Promise<readonly string[]> {
  const rows = await readRows<{ name: string }>(db)`with agreed as (
     update mcp_tools t set pinned = found, pinned_hash = found_hash, revision = t.revision + 1
     where t.tenant_id = ${db} and t.server_id = ${server} and t.found_hash is not null
       and t.pinned_hash is distinct from t.found_hash
       and (${picked === undefined} or exists (
         select from jsonb_to_recordset(${JSON.stringify(picked ?? [])}::jsonb) as x(name text, hash text)
         where x.name = t.name and x.hash = t.found_hash))
     returning t.name),
   ${noteChange(db.tenant, 'custom_tools', 'agreed')}
   select name from agreed order by name`;
  return rows.map(({ name }) => name);
}

/** Tools of one server, or of all of the tenant's. */
export function listMcpTools(db: TenantDb, server?: string): Promise<McpToolRow[]> {
  return readRows<McpToolRow>(db)`
    select ${COLUMNS} from mcp_tools
    where tenant_id = ${db} and (${server}::uuid is null or server_id = ${server}) order by name`;
}

/** A server with the tools that agents may have. */
export interface McpToolsOfServer {
  readonly name: string;
  readonly base: string;
  readonly config: McpServerConfig;
  readonly grants: readonly McpGrant[];
  readonly tools: readonly (Pick<McpToolRow, 'id' | 'revision'> & {
    readonly definition: McpToolDefinition;
  })[];
}

const GRANTS = sql`coalesce((select jsonb_agg(jsonb_build_object('kind', g.kind, 'subject', g.subject, 'tool_allow', g.tool_allow,
      'tool_deny', g.tool_deny, 'enabled', g.enabled, 'config_overrides', g.config_overrides)) from mcp_grants g
    where g.tenant_id = s.tenant_id and g.server_id = s.id), '[]')`;

/** Tools with consent that are unchanged, of enabled servers. */
export function readMcpTools(db: TenantDb): Promise<McpToolsOfServer[]> {
  return readRows<McpToolsOfServer>(db)`
    select s.name, s.base, s.config, ${GRANTS} as grants,
      (select jsonb_agg(jsonb_build_object('id', t.id, 'revision', t.revision, 'definition', t.pinned) order by t.name)
       from mcp_tools t where t.tenant_id = s.tenant_id and t.server_id = s.id and t.pinned_hash = t.found_hash) as tools
    from mcp_servers s
    where s.tenant_id = ${db} and (s.config ->> 'enabled')::boolean
      and exists (select from mcp_tools t
                  where t.tenant_id = s.tenant_id and t.server_id = s.id and t.pinned_hash = t.found_hash)
    order by s.name`;
}

export interface McpToolOfCall {
  /** The name in the call. */
  readonly name: string;
  /** Null when the server or the tool no longer exists. */
  readonly found: {
    readonly server: McpServerToUse;
    readonly grants: readonly McpGrant[];
    readonly tool: McpToolRow;
  } | null;
}

/**
 * Returns undefined when the call was planned without a definition. It is for calls for which no custom tool is found.
 */
export async function readMcpToolOfCall(db: TenantDb, call: string): Promise<McpToolOfCall | undefined> {
  const row = await readRow<{
    name: string;
    server: McpServerToUse | null;
    grants: McpGrant[];
    tool: McpToolRow;
  }>(db)`
    select c.tool as name, to_jsonb(s) || jsonb_build_object('tenant', s.tenant_id) as server, to_jsonb(t) as tool,
      ${GRANTS} as grants
    from tool_calls c
    left join mcp_tools t on t.tenant_id = c.tenant_id and t.id = c.custom_tool_id
    left join mcp_servers s on s.tenant_id = t.tenant_id and s.id = t.server_id
    where c.tenant_id = ${db} and c.id = ${call} and c.custom_tool_id is not null`;
  if (!row) return undefined;
  const { name, server, grants, tool } = row;
  return { name, found: server && { server, grants, tool } };
}
