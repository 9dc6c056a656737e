/**
 * Finds the tool that a call was planned with among those that tenants have added, for the one activity that runs them
 * all.
 */
import type { AddedTools } from '#domain/feature.ts';
import type { RunToolInput } from '#domain/turn/turn-activities.ts';
import type { Tool } from '#policy/define-tool.ts';

/** `name` is that of the planned call's tool. Undefined when the call has no such tool, or does not exist. */
export function createFindAddedTool(
  all: readonly AddedTools[],
): (input: RunToolInput, name: string) => Promise<Tool | undefined> {
  return async (input, name) => {
    let gone: Tool | undefined;
    for (const added of all.toSorted((a, b) => Number(b.isLikely(name)) - Number(a.isLikely(name)))) {
      const found = await added.find(input);
      if (found && !found.isGone) return found.tool;
      gone ??= found?.tool;
    }
    return gone;
  };
}
