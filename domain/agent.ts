/** What an agent is. Its row holds the newest revision; a turn keeps the one it began with. */

import type { ApprovalTerms } from './approval-terms.ts';
import type { QualityGate } from './gate.ts';
import type { Budget } from './budget.ts';
import type { SandboxMode, SandboxSettings } from './sandbox.ts';
import type { ShellSwitch } from './shell/shell-switches.ts';
import type { Thinking } from './thinking.ts';

export const EXEC_SECURITY = ['deny', 'allowlist', 'full'] as const;
export type ExecSecurity = (typeof EXEC_SECURITY)[number];

export const EXEC_ASK = ['off', 'on-miss', 'always'] as const;
export type ExecAsk = (typeof EXEC_ASK)[number];

/** AP-5. A call that matches is put to a person, on these terms; every given field of the match must match. */
export interface AskRule extends ApprovalTerms {
  /** A tool's name, a glob, or `group:NAME`. */
  readonly tool: string;
  /** Argument name → glob over its text (`*` any run, `?` one character). */
  readonly args?: Readonly<Record<string, string>> | undefined;
  /** Globs over the agent's key, the user's id and the channel's name. */
  readonly agent?: string | undefined;
  readonly user?: string | undefined;
  readonly channel?: string | undefined;
  readonly reason?: string | undefined;
}

export const RULE_DECISIONS = ['allow', 'ask', 'deny'] as const;
export type RuleDecision = (typeof RULE_DECISIONS)[number];

/** `allow` spares the call the rules after it in the same list; what the lists or the shell judge deny stays denied. */
export interface CallRule extends AskRule {
  readonly decision: RuleDecision;
}

/** What holds while the agent's model is a provider's. */
export interface ProviderToolPolicy {
  /** In place of the policy's own profile. */
  readonly profile?: string | undefined;
  readonly allow?: readonly string[] | undefined;
}

/** PO-1. Lists have names, globs, `group:NAME` and `capability:NAME`; which tools that gives: domain/policy/effective-tools. */
export interface ToolPolicy {
  readonly profile?: string | undefined;
  readonly allow?: readonly string[] | undefined;
  readonly deny?: readonly string[] | undefined;
  readonly also_allow?: readonly string[] | undefined;
  readonly by_provider?: Readonly<Record<string, ProviderToolPolicy>> | undefined;
  /** The first that matches a call decides. */
  readonly rules?: readonly CallRule[] | undefined;
  /** Short for rules that ask, after those of `rules`. */
  readonly ask?: readonly AskRule[] | undefined;
}

export interface ExecPolicy {
  readonly security?: ExecSecurity | undefined;
  readonly ask?: ExecAsk | undefined;
  /** Globs over a command's words, or program names. */
  readonly allowlist?: readonly string[] | undefined;
  /** Deny categories of SH-1, or parts of them, that hold or do not; `categories_off` is short for false. */
  readonly categories?: Readonly<Partial<Record<ShellSwitch, boolean | undefined>>> | undefined;
  readonly categories_off?: readonly ShellSwitch[] | undefined;
  readonly timeout_seconds?: number | undefined;
}

export interface AgentLimits {
  /** Model calls in a turn (EX-7): 20. */
  readonly iterations?: number;
  /** Tokens that one answer may have. */
  readonly output_tokens?: number;
}

/** In which words tools are offered to the model (SPEC TL). */
export type ToolDialect = 'canonical' | 'goclaw' | 'clawft';

export interface AgentConfig {
  readonly key: string;
  readonly name?: string;
  readonly type: 'open' | 'predefined';
  /** `provider/model`, or several in the order of falling back. */
  readonly model: string | readonly string[];
  /** The provider's own default when absent. */
  readonly thinking?: Thinking;
  readonly instructions?: string;
  readonly tools?: ToolPolicy;
  readonly tool_names?: ToolDialect;
  readonly exec?: ExecPolicy;
  /** Where its commands run (SH-3); a mode alone stands for `{ mode }`. */
  readonly sandbox?: SandboxMode | SandboxSettings;
  readonly limits?: AgentLimits;
  /** What it is good at, for agents that look for one to delegate to (DE-3). */
  readonly description?: string;
  /** More of that, as the head of its own page would have it: tags, domains, languages. */
  readonly frontmatter?: string;
  /** Delegations that it works on at once: 5 (DE-1). */
  readonly max_delegation_load?: number;
  /** What its work must pass before anybody reads it (DE-6). */
  readonly quality_gates?: readonly QualityGate[];
  /** DU-7: of its turns and sessions, and of all of them together. */
  readonly budgets?: readonly Budget[];
  /** Name of the folder under the workspace root; the agent's key by default (VF-5). */
  readonly workspace?: string;
}

/** SH-2: unknown commands are put to a person unless the agent's owner says otherwise. */
export const DEFAULT_EXEC: { readonly security: ExecSecurity; readonly ask: ExecAsk } = {
  security: 'full',
  ask: 'on-miss',
};

export const DEFAULT_ITERATIONS = 20;
export const MAX_ITERATIONS = 10_000;
