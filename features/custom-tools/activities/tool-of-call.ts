/** Finds the custom tool, or the MCP server's, that a call was planned with, as it is now, for the one activity that runs them all. */
import type { Tool } from '#policy/define-tool.ts';
import { readMcpToolOfCall } from '#features/mcp/store/mcp-tool-store.ts';
import { readToolOfCall } from '../store.ts';
import type { Pool } from '#store/pool.ts';
import type { Sealer } from '#store/seal.ts';
import type { RunToolInput } from '#domain/turn.ts';
import { createGoneTool } from '../policy/custom-tool.ts';
import { type Environment, openEnvironment } from '../policy/tool-environment.ts';
import { runnableMcpTool } from '#features/mcp/activities/run-mcp-tool.ts';
import { runnableTool } from './run-custom-tool.ts';

export interface ToolOfCallDeps {
  readonly pool: Pool;
  readonly sealer: Sealer;
  /** Puts secrets in the place of `secret://NAME`. */
  readonly resolve: (tenant: string, text: string) => Promise<string>;
}

/** `name`: of the tool, as the call was planned. Undefined when the call is of no such tool, or there is no such call. */
export function createToolOfCall(
  deps: ToolOfCallDeps,
): (input: RunToolInput, name: string) => Promise<Tool | undefined> {
  const customTool = async ({ tenant, call }: RunToolInput): Promise<Tool | undefined> => {
    const found = await readToolOfCall(deps.pool, tenant, call);
    if (!found) return undefined;
    const { definition, isDeleted, sealed } = found;
    if (isDeleted) return createGoneTool(definition.name, 'was deleted');
    if (!definition.enabled) return createGoneTool(definition.name, 'was switched off');
    const environment = async (): Promise<Environment> =>
      sealed === null ? {} : openEnvironment(deps, tenant, definition.id, sealed);
    try {
      return runnableTool(definition, environment);
    } catch (error) {
      // Stored by a release that took it; a retry would not change it.
      const why = error instanceof Error ? error.message : String(error);
      return createGoneTool(definition.name, `cannot be used: ${why}`);
    }
  };
  return async (input, name) => {
    const { tenant, call } = input;
    // Of a server by its name: most likely no custom tool.
    const likely = name.includes('__') ? await readMcpToolOfCall(deps.pool, tenant, call) : undefined;
    if (likely?.found) return runnableMcpTool(likely);
    const custom = await customTool(input);
    if (custom) return custom;
    const ofServer = likely ?? (await readMcpToolOfCall(deps.pool, tenant, call));
    return ofServer && runnableMcpTool(ofServer);
  };
}
