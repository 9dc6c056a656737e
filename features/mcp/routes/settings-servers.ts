/**
 * MC-4: the MCP servers of the settings file become rows of the operator's tenant, and are removed when the file no
 * longer has them.
 */
import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Config } from '#config';
import { mcpBaseName, splitServer } from '../rules/server.ts';
import {
  deleteMcpServer,
  insertMcpServer,
  listMcpServers,
  MAX_MCP_SERVERS,
  mcpServerPlace,
  type McpServerRow,
  openServerCredentials,
  updateMcpServer,
} from '../store/mcp-server-store.ts';
import type { ApiDeps } from '#api/deps.ts';
import { OPERATOR_TENANT as TENANT } from '#domain/tenant.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';

/**
 * Safe to run again and in several processes at once: each server is one statement, which skips what another has done.
 */
export async function syncSettingsServers(
  { pool, secrets: { sealer } }: Pick<ApiDeps, 'pool' | 'secrets'>,
  servers: Config['mcp']['servers'],
  warn: (problem: string) => void,
): Promise<void> {
  const isGone = ({ name, origin }: McpServerRow): boolean =>
    origin === 'settings' && !Object.hasOwn(servers, name);
  const known = await listMcpServers(forTenant(pool, TENANT));
  for (const { name } of known.filter(isGone)) await deleteMcpServer(forTenant(pool, TENANT), name);
  const rows = known.filter((row) => !isGone(row));
  for (const [name, server] of Object.entries(servers)) {
    const { config, credentials } = splitServer(server);
    const base = mcpBaseName(config.tool_prefix, name);
    const old = rows.find((row) => row.name === name);
    if (old?.origin === 'api' || rows.some((row) => row.base === base && row.name !== name)) {
      warn(`mcp.servers.${name}: not added; another server has its name or tool_prefix`);
      continue;
    }
    const id = old?.id ?? randomUUID();
    const place = mcpServerPlace(TENANT, id);
    const before = old && {
      config: old.config,
      credentials: openServerCredentials(sealer, TENANT, old),
    };
    if (isDeepStrictEqual(before, { config, credentials })) continue;
    const sealed = sealer.seal(JSON.stringify(credentials), place);
    const row = { id, name, base, config, sealed, keyId: sealer.keyId, by: 'settings' };
    const written = await (old
      ? updateMcpServer(forTenant(pool, TENANT), row, old.revision)
      : insertMcpServer(forTenant(pool, TENANT), { ...row, origin: 'settings' }));
    // Otherwise it is written, or another starting process has written it.
    if (written === 'full') warn(`mcp.servers.${name}: not added; ${MAX_MCP_SERVERS} servers are the most`);
  }
}
