/** Adds remote agents to the catalogs of agents. */
import type { AddedTool } from '#domain/feature.ts';
import type { TenantDb } from '#store/postgres/tenant-db.ts';
import { catalogedTool } from './remote-tool.ts';
import { listRemoteAgents } from './store.ts';

export async function listAddedTools(db: TenantDb): Promise<readonly AddedTool[]> {
  return (await listRemoteAgents(db)).map((row) => ({ agent: null, tool: catalogedTool(row) }));
}
