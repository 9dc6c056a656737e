/** Finds the custom tool that a call was planned with, in its current form. */
import type { AddedTools } from '#domain/feature.ts';
import type { Tool } from '#policy/define-tool.ts';
import { createGoneTool } from '#policy/gone-tool.ts';
import type { Pool } from '#store/postgres/pool.ts';
import type { Sealer } from '#store/seal.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { type Environment, openEnvironment } from '../policy/tool-environment.ts';
import { readToolOfCall, type ToolOfCall } from '../store.ts';
import { runnableTool } from './run-custom-tool.ts';

export interface AddedToolsDeps {
  readonly pool: Pool;
  readonly sealer: Sealer;
  /** Replaces `secret://NAME` with secrets. */
  readonly resolve: (tenant: string, text: string) => Promise<string>;
}

export function createAddedTools(deps: AddedToolsDeps): AddedTools {
  return {
    isLikely: (name) => !name.includes('__'),
    async find({ tenant, call }) {
      const found = await readToolOfCall(forTenant(deps.pool, tenant), call);
      return found && { tool: toolOf(deps, tenant, found), isGone: false };
    },
  };
}

function toolOf(deps: AddedToolsDeps, tenant: string, { definition, isDeleted, sealed }: ToolOfCall): Tool {
  if (isDeleted) return createGoneTool(definition.name, 'was deleted');
  if (!definition.enabled) return createGoneTool(definition.name, 'was switched off');
  const environment = async (): Promise<Environment> =>
    sealed === null ? {} : openEnvironment(deps, tenant, definition.id, sealed);
  try {
    return runnableTool(definition, environment);
  } catch (error) {
    // An earlier release accepted and stored it; a retry would not change it.
    const why = error instanceof Error ? error.message : String(error);
    return createGoneTool(definition.name, `cannot be used: ${why}`);
  }
}
