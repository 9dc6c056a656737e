/**
 * The activities of tool calls: one for each native tool, under its own name, and one for all that tenants have added.
 */
import type { RunToolInput, RunToolResult } from '#domain/turn/turn-activities.ts';
import type { Catalog } from '#policy/catalog.ts';
import type { ForAnyTenant } from '#store/secrets/scrubber.ts';
import type { AddedTools } from '#domain/feature.ts';
import { createFindAddedTool } from './added-tools.ts';
import { createRunCustomTool, createRunTool, type RunToolDeps } from './run-tool.ts';

export function createToolCallActivities(
  parts: ForAnyTenant<RunToolDeps> & {
    readonly catalog: Catalog;
    /** Added tools of features. */
    readonly added: readonly AddedTools[];
  },
): Readonly<Record<string, (input: RunToolInput) => Promise<RunToolResult>>> {
  return {
    ...Object.fromEntries(parts.catalog.list().map((tool) => [tool.name, createRunTool(parts, tool)])),
    // Temporal's name for the activity that handles every other type, such as a custom tool's own name.
    default: createRunCustomTool(parts, createFindAddedTool(parts.added)),
  };
}
