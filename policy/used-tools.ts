/** PO-5: the properties that rules use of the tools that a session has read from, which may no longer exist. */
import { CUSTOM_GROUP, type PolicyTool } from '#domain/policy/tool-groups.ts';
import {
  OUTSIDE_COMMAND,
  OUTSIDE_DOCUMENT,
  OUTSIDE_FILE,
  OUTSIDE_MESSAGE,
  type UsedTool,
  type UsedTools,
} from '#domain/policy/used-tools.ts';

/** `native` finds a built-in tool by its name. */
export function createUsedTools(
  native: (name: string) => PolicyTool | undefined,
): (used: UsedTools) => readonly UsedTool[] {
  return (used) =>
    Object.entries(used).map(([name, call]) => ({ call, tool: native(name) ?? otherNamed(name) }));
}

const SOURCES: readonly string[] = [OUTSIDE_MESSAGE, OUTSIDE_DOCUMENT, OUTSIDE_FILE, OUTSIDE_COMMAND];

/**
 * A tool of an MCP server, `{server}__{tool}` after a prefix that may have changed (MC-2), or a tenant's own, which has
 * no such name.
 */
function otherNamed(name: string): PolicyTool {
  if (SOURCES.includes(name)) return { name };
  const server = /^(?:mcp_)?(.+?)__/.exec(name)?.[1];
  return server === undefined ? { name, group: CUSTOM_GROUP } : { name, mcpServer: server };
}
