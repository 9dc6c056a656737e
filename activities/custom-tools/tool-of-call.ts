/** Finds the custom tool that a call was planned with, as it is now, for the one activity that runs them all. */
import type { Tool } from '#activities/define-tool.ts';
import { readToolOfCall } from '#activities/store/custom-tool-store.ts';
import type { Pool } from '#activities/store/pool.ts';
import type { Sealer } from '#activities/store/seal.ts';
import type { RunToolInput } from '#domain/turn.ts';
import { createCustomTool, createGoneTool, type Environment } from './custom-tool.ts';
import { openEnvironment } from './tool-environment.ts';

export interface ToolOfCallDeps {
  readonly pool: Pool;
  readonly sealer: Sealer;
  /** Puts secrets in the place of `secret://NAME`. */
  readonly resolve: (tenant: string, text: string) => Promise<string>;
}

/** Undefined when the call is of no custom tool, or there is no such call. */
export function createToolOfCall(deps: ToolOfCallDeps): (input: RunToolInput) => Promise<Tool | undefined> {
  return async ({ tenant, call }) => {
    const found = await readToolOfCall(deps.pool, tenant, call);
    if (!found) return undefined;
    const { definition, isDeleted, sealed } = found;
    if (isDeleted) return createGoneTool(definition.name, 'was deleted');
    if (!definition.enabled) return createGoneTool(definition.name, 'was switched off');
    const environment = async (): Promise<Environment> =>
      sealed === null ? {} : openEnvironment(deps, tenant, definition.id, sealed);
    try {
      return createCustomTool(definition, environment);
    } catch (error) {
      // Stored by a release that took it; a retry would not change it.
      const why = error instanceof Error ? error.message : String(error);
      return createGoneTool(definition.name, `cannot be used: ${why}`);
    }
  };
}
