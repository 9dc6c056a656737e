/** Rules for the tools that tenants add: custom tools and tools of MCP servers. */
import type { ReplayClass } from './tool.ts';

/**
 * What a second run of an added tool does. `verify` is missing, because it needs a probe, which added tools do not
 * have.
 */
export const ADDED_REPLAY = ['readonly', 'idempotent', 'once'] as const satisfies readonly ReplayClass[];
export type AddedReplay = (typeof ADDED_REPLAY)[number];

const ENV_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;

/** Variables that steer the shell, the loader or how we find the command's processes (SH-1 env_injection). */
const STEERING =
  /^(?:PATH|HOME|PWD|IFS|SHELL|ENV|PS4|CDPATH|GLOBIGNORE|BASH\w*|SHELLOPTS|PROMPT_COMMAND|LD_\w*|DYLD_\w*|TEMPOCLAW_\w*|GCONV_PATH|NODE_OPTIONS|PYTHONSTARTUP|PERL5OPT|RUBYOPT|JAVA_TOOL_OPTIONS)$/;

/** Says why the command may not get a variable of this name; undefined when it may. */
export function envNameProblem(name: string): string | undefined {
  if (!ENV_NAME.test(name)) return 'must be a variable name: letters, digits and _, no digit first';
  return STEERING.test(name) ? `${name} cannot be set: it changes which programs run` : undefined;
}
