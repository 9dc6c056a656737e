/** What an agent is. Its row contains the newest revision; a turn keeps the revision it started with. */

import type {
  agentConfigSchema,
  askRuleSchema,
  callRuleSchema,
  execPolicySchema,
  toolPolicySchema,
} from './schema/agent.ts';
import type { Kept } from './schema/scalars.ts';
import type { dialectSchema } from './schema/tool.ts';

export const EXEC_SECURITY = ['deny', 'allowlist', 'full'] as const;
export type ExecSecurity = (typeof EXEC_SECURITY)[number];

export const EXEC_ASK = ['off', 'on-miss', 'always'] as const;
export type ExecAsk = (typeof EXEC_ASK)[number];

/** AP-5. A person decides a call that matches, on these terms; every field of the match must match. */
export type AskRule = Kept<typeof askRuleSchema>;

export const RULE_DECISIONS = ['allow', 'ask', 'deny'] as const;
export type RuleDecision = (typeof RULE_DECISIONS)[number];

/**
 * `allow` makes the call skip the later rules of the same list. What the tool lists or the shell judge deny stays
 * denied.
 */
export type CallRule = Kept<typeof callRuleSchema>;

/**
 * PO-1. Lists contain names, globs, `group:NAME` and `capability:NAME`. domain/policy/effective-tools.ts says which
 * tools result.
 */
export type ToolPolicy = Kept<typeof toolPolicySchema>;

export type ExecPolicy = Kept<typeof execPolicySchema>;

/** The names and parameters under which tools are offered to the model (SPEC TL). */
export type ToolDialect = Kept<typeof dialectSchema>;

export type AgentConfig = Kept<typeof agentConfigSchema>;

/** SH-2: a person decides unknown commands unless the agent's owner sets something else. */
export const DEFAULT_EXEC: { readonly security: ExecSecurity; readonly ask: ExecAsk } = {
  security: 'full',
  ask: 'on-miss',
};

/** VF-5. Who shares the files of an agent's work. */
export const WORKSPACE_SCOPES = ['user', 'session', 'team', 'shared'] as const;

export const DEFAULT_ITERATIONS = 20;
export const MAX_ITERATIONS = 10_000;
