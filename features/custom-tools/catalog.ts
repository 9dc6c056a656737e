/** Adds custom tools to the catalogs of agents. */
import type { AddedTool } from '#domain/feature.ts';
import type { TenantDb } from '#store/postgres/tenant-db.ts';
import { catalogedTool } from './policy/custom-tool.ts';
import { readTenantTools } from './store.ts';

export async function listAddedTools(
  db: TenantDb,
  onError: (error: unknown) => void,
): Promise<readonly AddedTool[]> {
  const definitions = await readTenantTools(db);
  return definitions.flatMap((definition) => {
    try {
      return [{ agent: definition.agent_id, tool: catalogedTool(definition) }];
    } catch (error) {
      onError(error);
      return [];
    }
  });
}
