/** What an agent is. Its row holds the newest revision; a turn keeps the one it began with. */

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

/** AP-5. A call that matches is put to a person, on these terms; every given field of the match must match. */
export type AskRule = Kept<typeof askRuleSchema>;

export const RULE_DECISIONS = ['allow', 'ask', 'deny'] as const;
export type RuleDecision = (typeof RULE_DECISIONS)[number];

/** `allow` spares the call the rules after it in the same list; what the lists or the shell judge deny stays denied. */
export type CallRule = Kept<typeof callRuleSchema>;

/** PO-1. Lists have names, globs, `group:NAME` and `capability:NAME`; which tools that gives: domain/policy/effective-tools. */
export type ToolPolicy = Kept<typeof toolPolicySchema>;

export type ExecPolicy = Kept<typeof execPolicySchema>;

/** In which words tools are offered to the model (SPEC TL). */
export type ToolDialect = Kept<typeof dialectSchema>;

export type AgentConfig = Kept<typeof agentConfigSchema>;

/** SH-2: unknown commands are put to a person unless the agent's owner says otherwise. */
export const DEFAULT_EXEC: { readonly security: ExecSecurity; readonly ask: ExecAsk } = {
  security: 'full',
  ask: 'on-miss',
};

/** VF-5. Whose the files of an agent's work are. */
export const WORKSPACE_SCOPES = ['user', 'session', 'team', 'shared'] as const;

export const DEFAULT_ITERATIONS = 20;
export const MAX_ITERATIONS = 10_000;
