/**
 * MC-3: who may use which tools of an MCP server. Grants of the agent and of the user both apply; what either denies is
 * denied.
 */
import { matchGlob } from '@tempoclaw/shell-judge/glob';
import type { mcpGrantSchema } from '../schema/mcp-server.ts';
import type { Kept } from '#domain/schema/scalars.ts';

/** A grant that is off refuses. */
export type McpGrant = Omit<Kept<typeof mcpGrantSchema>, 'updated_by' | 'updated_at'>;

/** The requested access, which the grant has when it is approved. */
export type RequestedAccess = Pick<McpGrant, 'kind' | 'subject' | 'tool_allow'>;

/** The grant that approves the request: the previous and the requested access; what is denied stays denied. */
export function grantWith(
  before: McpGrant | undefined,
  { kind, subject, tool_allow }: RequestedAccess,
): McpGrant {
  if (!before?.enabled)
    return {
      kind,
      subject,
      tool_allow,
      tool_deny: before?.tool_deny ?? [],
      enabled: true,
      config_overrides: before?.config_overrides ?? {},
    };
  const hasAll = before.tool_allow.length === 0 || tool_allow.length === 0;
  return { ...before, tool_allow: hasAll ? [] : [...new Set([...before.tool_allow, ...tool_allow])] };
}

/** Seconds that a call of the agent may take. */
export function callSeconds(usual: number, grants: readonly McpGrant[], agent: string): number {
  const own = grants.find(({ kind, subject }) => kind === 'agent' && subject === agent);
  return own?.config_overrides.timeout_sec ?? usual;
}

/** The longest time that a call of any agent may take. */
export function maxCallSeconds(usual: number, grants: readonly McpGrant[]): number {
  return Math.max(usual, ...grants.map(({ config_overrides }) => config_overrides.timeout_sec ?? 0));
}

export interface McpAccess {
  readonly server: string;
  /** The server's name of the tool. */
  readonly tool: string;
  readonly requireGrant: boolean;
  /** All grants of the server. */
  readonly grants: readonly McpGrant[];
}

/** Why the agent may not call the tool for the user, or undefined. */
export function grantProblem(
  { server, tool, requireGrant, grants }: McpAccess,
  agent: string,
  user: string | null,
): string | undefined {
  const theirs = grants.filter(
    ({ kind, subject }) => subject === (kind === 'agent' ? agent : user) && subject !== '',
  );
  if (requireGrant && theirs.length === 0) return `agent ${agent} has no grant for the MCP server ${server}`;
  for (const grant of theirs) {
    const of = `the grant of ${grant.kind} ${grant.subject} for the MCP server ${server}`;
    if (!grant.enabled) return `${of} is switched off`;
    if (!passesFilter(tool, grant.tool_allow, grant.tool_deny)) return `${of} does not have ${tool}`;
  }
  return undefined;
}

/** An absent or empty list of what is allowed allows all; deny wins. */
export function passesFilter(
  tool: string,
  allow: readonly string[] | null,
  deny: readonly string[] | null,
): boolean {
  const isIn = (list: readonly string[] | null): boolean =>
    list?.some((glob) => matchGlob(glob, tool)) ?? false;
  return !isIn(deny) && (!allow?.length || isIn(allow));
}
