/**
 * Tools of MCP servers beyond what a model is told of at once (REFERENCE §11): they can be called as all others, and the tool
 * `mcp_tool_search` finds them. What it has found is told from then on.
 */
import type { Catalog } from '../catalog.ts';

export const MCP_TOOL_SEARCH = 'mcp_tool_search';

const MOST_TOLD = 40;
/** Found ones that are told besides, the newest. */
const MOST_FOUND = 40;

/** A line of what `mcp_tool_search` answers. */
export function toolLine(name: string): string {
  return `tool: ${name}`;
}

/** Names in answers of `mcp_tool_search`. */
function foundIn(answers: readonly string[]): readonly string[] {
  const names = answers.flatMap((text) =>
    Array.from(text.matchAll(/^tool: (\S+)$/gm), ([, name]) => name ?? ''),
  );
  return [...new Set(names.toReversed())].slice(0, MOST_FOUND);
}

/** Of the names that an agent may call those to tell its model; the same each time, so that prompt caches hold. `answers`: of the search. */
export function toldTools(
  catalog: Catalog,
  offered: readonly string[],
  answers: () => readonly string[],
): readonly string[] {
  const ofServers = offered.filter((name) => catalog.find(name)?.tool.mcp !== undefined).toSorted();
  if (ofServers.length <= MOST_TOLD) return offered.filter((name) => name !== MCP_TOOL_SEARCH);
  const found = foundIn(answers());
  const deferred = new Set(ofServers.slice(MOST_TOLD).filter((name) => !found.includes(name)));
  return offered.filter((name) => !deferred.has(name));
}
