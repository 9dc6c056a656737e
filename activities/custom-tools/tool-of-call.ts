/** Finds the custom tool that a call was planned with, as it is now, for the one activity that runs them all. */
import type { Tool } from '#policy/define-tool.ts';
import { readToolOfCall } from '#store/custom-tool-store.ts';
import type { Pool } from '#store/pool.ts';
import type { Sealer } from '#store/seal.ts';
import type { RunToolInput } from '#domain/turn.ts';
import { createGoneTool } from '#policy/custom-tools/custom-tool.ts';
import { type Environment, openEnvironment } from '#policy/custom-tools/tool-environment.ts';
import { runnableTool } from './run-custom-tool.ts';

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
      return runnableTool(definition, environment);
    } catch (error) {
      // Stored by a release that took it; a retry would not change it.
      const why = error instanceof Error ? error.message : String(error);
      return createGoneTool(definition.name, `cannot be used: ${why}`);
    }
  };
}
