/** PO-2: the groups of tools, and what a policy's pattern (`exec`, `read_*`, `group:fs`) matches. */
import { matchGlob } from '@tempoclaw/shell-judge/glob';

/** Groups of the built-in tools; each tool is in one. */
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

/** Tools that a tenant has defined: a group beside the native ones. */
export const CUSTOM_GROUP = 'custom';

/** Tools that the sender of a message runs. */
export const CLIENT_GROUP = 'client';

/** Activities of other programs, which ask before they run one. */
export const GUARDED_GROUP = 'guarded';

/** The tools of MCP servers: `group:mcp` for all, and `group:mcp:SERVER` for those of one. */
export const MCP_GROUP = 'mcp';

/** Groups made of others: all native tools (under two names), the tools of MCP servers, and names of other seeds. */
const COMPOSITES: Readonly<Record<string, readonly string[]>> = {
  native: TOOL_GROUPS,
  goclaw: TOOL_GROUPS,
  team: ['teams'],
  media: ['media_gen', 'media_read'],
};

/** The properties of a tool that policies use. */
export interface PolicyTool {
  readonly name: string;
  readonly aliases?: readonly string[];
  /** One of TOOL_GROUPS, CUSTOM_GROUP, CLIENT_GROUP or GUARDED_GROUP; undefined for tools of MCP servers. */
  readonly group?: string;
  /** The MCP server that the tool comes from; such a tool is not native. */
  readonly mcpServer?: string;
  /** Only agents whose rules name it have it (MC-4). */
  readonly isInternal?: boolean;
  /** It changes nothing, so that a second run does no harm. */
  readonly readOnly?: boolean;
  /** It continues after the call has returned. */
  readonly async?: boolean;
}

/** Tools that return text of others, which may contain instructions for the model. */
const OUTSIDE_SOURCES = [
  'outside_*',
  'group:web',
  'group:ui',
  'group:mcp',
  'group:custom',
  'group:client',
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

/** Whether the group exists even without tools in it. */
export function isNativeGroup(pattern: string): boolean {
  if (!pattern.startsWith(GROUP)) return false;
  const group = pattern.slice(GROUP.length);
  return (
    group === CUSTOM_GROUP ||
    group === CLIENT_GROUP ||
    group === MCP_GROUP ||
    Object.hasOwn(COMPOSITES, group) ||
    TOOL_GROUPS.some((known) => matchGlob(group, known))
  );
}

/**
 * Says why a pattern can never match a tool; undefined when it can. Names of tools are not checked, because tools come
 * and go.
 */
export function patternProblem(pattern: string): string | undefined {
  if (pattern.startsWith(CAPABILITY)) {
    const known = Object.keys(CAPABILITIES);
    if (known.includes(pattern.slice(CAPABILITY.length))) return undefined;
    return `there is no capability "${pattern.slice(CAPABILITY.length)}"; there are ${known.join(', ')}`;
  }
  if (!pattern.startsWith(GROUP))
    return pattern.includes(':')
      ? `"${pattern}" names no tool: a group is written group:NAME, a capability capability:NAME`
      : undefined;
  const group = pattern.slice(GROUP.length);
  if (isNativeGroup(pattern) || /^mcp:.+$/.test(group)) return undefined;
  const known = [...TOOL_GROUPS, ...Object.keys(COMPOSITES), CUSTOM_GROUP, CLIENT_GROUP, 'mcp', 'mcp:SERVER'];
  return `there is no group "${group}"; there are ${known.join(', ')}`;
}
