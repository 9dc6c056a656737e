/** Adds tools of MCP servers to the catalogs of agents. */
import type { AddedTool } from '#domain/feature.ts';
import type { TenantDb } from '#store/postgres/tenant-db.ts';
import { catalogedMcpTools } from './policy/mcp-tool.ts';
import { readMcpTools } from './store/mcp-tool-store.ts';

export async function listAddedTools(db: TenantDb): Promise<readonly AddedTool[]> {
  const servers = await readMcpTools(db);
  return servers.flatMap(catalogedMcpTools).map((tool) => ({ agent: null, tool }));
}
