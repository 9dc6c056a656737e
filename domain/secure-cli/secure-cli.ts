/** SH-4: a program that runs with credentials of the tenant, and the rules it runs under. Never a value of a credential. */

/**
 * `sensitive`: hidden everywhere. `file`: as sensitive, but the program gets the path of a file with the value, which is
 * removed after the call. `value`: may be shown.
 */
export const CLI_ENV_KINDS = ['sensitive', 'value', 'file'] as const;
export type CliEnvKind = (typeof CLI_ENV_KINDS)[number];

/** Words that may stand in the value of an option although a pattern of `deny_args` has them: a title, a text. */
export interface KeywordRule {
  /** Where it holds: the words that the arguments begin with, such as `issue create`. */
  readonly subcommands: readonly string[];
  /** Options whose values are meant, such as `--body`. */
  readonly args: readonly string[];
  readonly keywords: readonly string[];
}

export interface SecureCliRules {
  /** Patterns (RE2) over the arguments, joined by spaces. */
  readonly deny_args: readonly string[];
  /** Patterns (RE2) over each argument and each two neighbours: what makes the program print its credentials. */
  readonly deny_verbose: readonly string[];
  readonly keyword_allowlist: readonly KeywordRule[];
  readonly timeout_seconds: number;
  /** For the model: how to use it. */
  readonly tips: string;
}

export interface SecureCli extends SecureCliRules {
  readonly name: string;
  /** Absolute; else it is looked for in the worker's PATH. */
  readonly path?: string;
  /** Keys of agents that may use it; `*` is every agent. */
  readonly agents: readonly string[];
  /** Also for agents whose commands must run in a container, which this one does not: it runs on the worker's machine. */
  readonly host?: boolean;
}

export function mayUse(cli: SecureCli, agent: string): boolean {
  return cli.agents.includes('*') || cli.agents.includes(agent);
}
