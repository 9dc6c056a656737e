/** Adds the tools of hosts to the catalogs of agents. */
import type { AddedTool } from '#domain/feature.ts';
import type { TenantDb } from '#store/postgres/tenant-db.ts';
import { catalogedTool } from './code-tool.ts';
import { listCodeTools } from './store.ts';

export async function listAddedTools(db: TenantDb): Promise<readonly AddedTool[]> {
  return (await listCodeTools(db)).map((row) => ({ agent: null, tool: catalogedTool(row) }));
}
