/** What a custom tool is (CU-1): its fields, their limits, and which names it may have. */
import type { AddedReplay } from '#domain/added-tool.ts';
import type { Parameters } from './check-parameters.ts';

/** Used when the timeout is absent, zero or less. */
export const DEFAULT_TIMEOUT_SECONDS = 60;
export const MAX_TIMEOUT_SECONDS = 3600;

export interface CustomToolDefinition {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments, as `parameterProblems` accepts it. */
  readonly parameters: Parameters;
  /** Template of a shell command; see template.ts. */
  readonly command: string;
  /** Path relative to the agent's workspace. */
  readonly working_dir: string | null;
  readonly timeout_seconds: number;
  /** Key of the only agent that has it; null for all of the tenant's. */
  readonly agent_id: string | null;
  readonly enabled: boolean;
  readonly replay: AddedReplay;
  /** Increases with each change: a call is bound to the revision that it was judged by. */
  readonly revision: number;
}

const NAME = /^[a-z][a-z0-9_-]{0,63}$/;

/** Activity types, route segments and prefixes that a tenant's tool must not use. */
const RESERVED = /^(?:call_model|end_turn|settle_approval|default|custom|mcp_.*|__.*)$/;

/**
 * Why a custom tool may not have the name, or undefined. A double underscore joins an MCP server's name and its tool's,
 * so it is refused, and the two kinds never collide.
 */
export function customNameProblem(name: string): string | undefined {
  if (!NAME.test(name))
    return 'must be 1 to 64 lower-case letters, digits, _ or -, and begin with a letter, such as dns_lookup';
  if (name.includes('__')) return 'must have no double underscore: such names are of MCP tools';
  return RESERVED.test(name) ? `${name} is a reserved name` : undefined;
}
