/** Adds tools of MCP servers to the catalogs of agents. */
import type { AddedTool } from '#domain/feature.ts';
import type { Pool } from '#store/pool.ts';
import { catalogedMcpTools } from './policy/mcp-tool.ts';
import { readMcpTools } from './store/mcp-tool-store.ts';

export async function listAddedTools(pool: Pool, tenant: string): Promise<readonly AddedTool[]> {
  const servers = await readMcpTools(pool, tenant);
  return servers.flatMap(catalogedMcpTools).map((tool) => ({ agent: null, tool }));
}
