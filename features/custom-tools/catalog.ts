/** Adds custom tools to the catalogs of agents. */
import type { AddedTool } from '#domain/feature.ts';
import type { Pool } from '#store/pool.ts';
import { catalogedTool } from './policy/custom-tool.ts';
import { readTenantTools } from './store.ts';

export async function listAddedTools(
  pool: Pool,
  tenant: string,
  onError: (error: unknown) => void,
): Promise<readonly AddedTool[]> {
  const definitions = await readTenantTools(pool, tenant);
  return definitions.flatMap((definition) => {
    try {
      return [{ agent: definition.agent_id, tool: catalogedTool(definition) }];
    } catch (error) {
      onError(error);
      return [];
    }
  });
}
