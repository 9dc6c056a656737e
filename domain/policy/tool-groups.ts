/** PO-2: the groups of tools, and what a pattern of a policy (`exec`, `read_*`, `group:fs`) stands for. */
import { matchGlob } from '@tempoclaw/shell-judge/glob';

/** Groups of our own tools; each tool is in one. */
export const TOOL_GROUPS = [
  'fs',
  'runtime',
  'web',
  'memory',
  'sessions',
  'knowledge',
  'skills',
  'ui',
  'automation',
  'messaging',
  'delegation',
  'teams',
  'media_gen',
  'media_read',
  'other',
] as const;
export type ToolGroup = (typeof TOOL_GROUPS)[number];

/** Tools that a tenant has made for itself: a group beside the native ones. */
export const CUSTOM_GROUP = 'custom';

/** The tools of MCP servers: `group:mcp`, and `group:mcp:SERVER` for those of one. */
export const MCP_GROUP = 'mcp';

/** Groups made of others: all native tools (two names), the tools of MCP servers, and other seeds' words. */
const COMPOSITES: Readonly<Record<string, readonly string[]>> = {
  native: TOOL_GROUPS,
  goclaw: TOOL_GROUPS,
  team: ['teams'],
  media: ['media_gen', 'media_read'],
};

/** What a policy may ask about a tool. */
export interface PolicyTool {
  readonly name: string;
  readonly aliases?: readonly string[];
  /** One of TOOL_GROUPS or CUSTOM_GROUP; undefined for tools of MCP servers. */
  readonly group?: string;
  /** The MCP server that the tool comes from; then it is no native tool. */
  readonly mcpServer?: string;
  /** Nobody has it whose rules do not name it (MC-4). */
  readonly isInternal?: boolean;
  /** Changes nothing, so that a second run does no harm. */
  readonly readOnly?: boolean;
  /** Goes on after the call has returned. */
  readonly async?: boolean;
}

/** What gives words of others, which may tell the model what to do (SECURITY R1). */
const OUTSIDE_SOURCES = [
  'outside_*',
  'group:web',
  'group:ui',
  'group:mcp',
  'group:custom',
  'group:media_read',
  'credentialed_exec',
  'group:teams',
  'sessions_history',
  'use_skill',
  'skill_search',
  'openai_compat_call',
  'nodes',
];

const CAPABILITIES: Readonly<Record<string, (tool: PolicyTool) => boolean>> = {
  'read-only': (tool) => tool.readOnly === true,
  mutating: (tool) => tool.readOnly !== true,
  async: (tool) => tool.async === true,
  'mcp-bridged': (tool) => tool.mcpServer !== undefined,
  outside: (tool) => OUTSIDE_SOURCES.some((pattern) => matchesTool(pattern, tool)),
};

export const GROUP = 'group:';
export const CAPABILITY = 'capability:';

/** `group:NAME`, `capability:NAME`, or a glob over the tool's name and its aliases. */
export function matchesTool(pattern: string, tool: PolicyTool): boolean {
  if (pattern.startsWith(GROUP)) return isInGroup(pattern.slice(GROUP.length), tool);
  if (pattern.startsWith(CAPABILITY)) {
    const capability = pattern.slice(CAPABILITY.length);
    return Object.hasOwn(CAPABILITIES, capability) && CAPABILITIES[capability]?.(tool) === true;
  }
  return matchGlob(pattern, tool.name) || (tool.aliases?.some((name) => matchGlob(pattern, name)) ?? false);
}

function isInGroup(group: string, tool: PolicyTool): boolean {
  if (tool.mcpServer !== undefined)
    return group === MCP_GROUP || (group.startsWith('mcp:') && matchGlob(group.slice(4), tool.mcpServer));
  if (tool.group === undefined) return false;
  if (matchGlob(group, tool.group)) return true;
  return Object.hasOwn(COMPOSITES, group) && COMPOSITES[group]?.includes(tool.group) === true;
}

/** A group that is there whether or not a tool is in it. */
export function isNativeGroup(pattern: string): boolean {
  if (!pattern.startsWith(GROUP)) return false;
  const group = pattern.slice(GROUP.length);
  return (
    group === CUSTOM_GROUP ||
    group === MCP_GROUP ||
    Object.hasOwn(COMPOSITES, group) ||
    TOOL_GROUPS.some((known) => matchGlob(group, known))
  );
}

/** Why a pattern can never match a tool, or undefined. A tool's name is not checked: tools come and go. */
export function patternProblem(pattern: string): string | undefined {
  if (pattern.startsWith(CAPABILITY)) {
    const known = Object.keys(CAPABILITIES);
    if (known.includes(pattern.slice(CAPABILITY.length))) return undefined;
    return `there is no capability "${pattern.slice(CAPABILITY.length)}"; there are ${known.join(', ')}`;
  }
  if (!pattern.startsWith(GROUP)) return undefined;
  const group = pattern.slice(GROUP.length);
  if (isNativeGroup(pattern) || /^mcp:.+$/.test(group)) return undefined;
  const known = [...TOOL_GROUPS, ...Object.keys(COMPOSITES), CUSTOM_GROUP, 'mcp', 'mcp:SERVER'];
  return `there is no group "${group}"; there are ${known.join(', ')}`;
}
