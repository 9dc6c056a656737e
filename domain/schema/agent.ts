/** Agents on the wire. Unknown fields are refused, so that a misspelt rule never silently means "no rule". */
import { SHELL_SWITCHES } from '@tempoclaw/shell-judge/switches';
import { z } from 'zod';
import { EXEC_ASK, EXEC_SECURITY, MAX_ITERATIONS, RULE_DECISIONS, WORKSPACE_SCOPES } from '../agent.ts';
import { termsOf, termsProblem } from '../approval/approval-terms.ts';
import { gateSchema } from './gate.ts';
import { hooksSchema } from '#domain/schema/hook.ts';
import { GATE_LIMITS } from '../gate/gate.ts';
import { policyProblems } from '../policy/check-policy.ts';
import { THINKING } from '../model/thinking.ts';
import { approvalTermsShape } from './approval-terms.ts';
import { agentBudgetsSchema } from './budget.ts';
import { sandboxSchema } from './sandbox.ts';
import { dialectSchema } from './tool.ts';
import { isRecord } from '../outside-value.ts';
import { changeShape, labelSchema, nameSchema, textSchema, timeSchema, withAliases } from './scalars.ts';

/** A tool's name, a glob over names, or `group:NAME`. */
const toolPattern = z
  .string()
  .regex(/^[A-Za-z0-9_*?:.-]{1,128}$/, 'must be a tool name, a glob, group:NAME or capability:NAME');
const toolPatterns = z.array(toolPattern).max(500);

const ruleShape = {
  tool: toolPattern,
  /** Argument name → glob over its text (`*` any run, `?` one character). */
  args: z.record(z.string().max(100), textSchema(1000)).optional(),
  only_args: z
    .array(z.string().max(100))
    .max(100)
    .optional()
    .describe('A call with any other argument does not match'),
  /** Globs over the agent's key, the user's id and the channel's name. */
  agent: textSchema(128).optional(),
  user: textSchema(256).optional(),
  channel: textSchema(256).optional(),
  /** Tools: the rule matches only after the session has read a result of one of them (PO-5). */
  after: toolPatterns.min(1).optional(),
  address: z
    .literal('new')
    .optional()
    .describe('A call that names an address which the user did not write and the session has not asked for'),
  ...approvalTermsShape,
  reason: textSchema(500).optional(),
} as const;

export const askRuleSchema = z.strictObject(ruleShape).superRefine((rule, context) => {
  const message = termsProblem(rule);
  if (message !== undefined) context.addIssue({ code: 'custom', message });
});

export const callRuleSchema = z
  .strictObject({ ...ruleShape, decision: z.enum(RULE_DECISIONS) })
  .superRefine((rule, context) => {
    const terms = termsOf(rule);
    const message =
      rule.decision === 'ask' || terms === undefined
        ? termsProblem(rule)
        : `a rule that does not ask has no ${Object.keys(terms).join(', ')}`;
    if (message !== undefined) context.addIssue({ code: 'custom', message });
    if (rule.decision === 'allow' && rule.after)
      context.addIssue({
        code: 'custom',
        path: ['after'],
        message: 'a rule that allows does not look back: what a session has read gives it no more rights',
      });
  });

/** The policy while the agent's model belongs to a provider. */
const providerToolPolicySchema = z.strictObject({
  /** Replaces the policy's own profile. */
  profile: nameSchema.optional(),
  allow: toolPatterns.optional(),
});

/** GoClaw's names of fields. */
export const POLICY_ALIASES = { alsoAllow: 'also_allow', byProvider: 'by_provider' };

export const policyObjectSchema = z
  .strictObject({
    profile: nameSchema.optional(),
    allow: toolPatterns.optional(),
    deny: toolPatterns.optional(),
    also_allow: toolPatterns.optional(),
    /** Names of tools that no other rule can add again. */
    disabled: z
      .array(z.string().regex(/^[\w-]{1,128}$/, 'must be the name of a tool'))
      .max(500)
      .optional(),
    by_provider: z.record(nameSchema, providerToolPolicySchema).optional(),
    /** The first rule that matches a call decides. */
    rules: z.array(callRuleSchema).max(200).optional(),
    /** An abbreviation for rules that ask, which come after those of `rules`. */
    ask: z.array(askRuleSchema).max(200).optional(),
  })
  .superRefine((policy, context) => {
    for (const { path, message } of policyProblems(policy))
      context.addIssue({ code: 'custom', path: [...path], message });
  });

/** The policy as people write it; what is stored and shown has only our names. */
export const toolPolicySchema = withAliases(POLICY_ALIASES, policyObjectSchema);

export const execPolicySchema = z.strictObject({
  security: z.enum(EXEC_SECURITY).optional(),
  ask: z.enum(EXEC_ASK).optional(),
  /** Globs over a command's words, or program names. */
  allowlist: z.array(textSchema(1000)).max(500).optional(),
  /** Deny categories of SH-1, or parts of them, switched on or off; `categories_off` is an abbreviation for false. */
  categories: z.partialRecord(z.enum(SHELL_SWITCHES), z.boolean()).optional(),
  categories_off: z.array(z.enum(SHELL_SWITCHES)).max(100).optional(),
  timeout_seconds: z.int().min(1).max(300).optional(),
});

/** The part that settings and tenants have; the time limit of a command belongs to the agent. */
export const sharedExecPolicySchema = execPolicySchema.omit({ timeout_seconds: true });

const domains = z.array(textSchema(300)).max(1_000);

/** Which hosts may be requested over HTTP; the settings, the tenant and the agent must each permit one. */
export const domainRulesSchema = z.strictObject({
  policy: z.enum(['allow_all', 'allowlist']).optional(),
  /** `github.com`, `*.example.com`. */
  allowed_domains: domains.optional(),
  /** Blocks all names below them too; applies under either policy. */
  blocked_domains: domains.optional(),
});

export const agentLimitsSchema = z.strictObject({
  /** Model calls in a turn (EX-7); default 20. */
  iterations: z.int().min(1).max(MAX_ITERATIONS).optional(),
  /** Greatest number of tokens of one answer. */
  output_tokens: z.int().min(1).max(1_000_000).optional(),
});

const modelRefSchema = z
  .string()
  .regex(
    /^[A-Za-z0-9][\w-]{0,63}\/[\w./:@+-]{1,200}$/,
    'must be provider/model, such as openai/gpt-4.1-mini',
  );

export const modelSchema = z
  .union([modelRefSchema, z.array(modelRefSchema).min(1).max(10)])
  .meta({ examples: ['openai/gpt-4.1-mini', 'rehearsal/welcome'] });

const workspaceSchema = z
  .strictObject({
    scope: z.enum(WORKSPACE_SCOPES),
    name: nameSchema.optional().describe('Of the shared folder, the agent’s key when absent; of the team'),
    from: nameSchema
      .optional()
      .describe(
        'The shared folder that a user’s or session’s begins as a copy of; set by a change from shared',
      ),
  })
  .refine(
    ({ scope, name }) => scope !== 'team' || name !== undefined,
    'the scope team needs the name of a team',
  )
  .refine(
    ({ scope, name, from }) =>
      scope === 'user' || scope === 'session' ? name === undefined : from === undefined,
    'name is for shared and team, from for user and session',
  );

const fields = {
  name: labelSchema.optional(),
  type: z.enum(['open', 'predefined']),
  /** `provider/model`, or several in the order of fallback. */
  model: modelSchema,
  thinking: z
    .enum(THINKING)
    .optional()
    .describe('How much the model may think; the provider’s own default when absent'),
  show_thinking: z
    .boolean()
    .optional()
    .describe('Whether people who may read its answers also see what the model thinks; not when absent'),
  instructions: textSchema(100_000).optional(),
  tools: policyObjectSchema.optional(),
  tool_names: dialectSchema.optional(),
  exec: execPolicySchema.optional(),
  /** Where its tools may connect on the web. */
  egress: domainRulesSchema.optional(),
  /** Where its commands run (SH-3); a mode alone means `{ mode }`. */
  sandbox: sandboxSchema.optional(),
  limits: agentLimitsSchema.optional(),
  /** DU-7: budgets of its turns and sessions, and of all of them together. */
  budgets: agentBudgetsSchema.optional(),
  workspace: z
    .union([nameSchema, workspaceSchema])
    .optional()
    .describe('Whose its files are (VF-5): each user’s when absent; a name alone is that of a shared one'),
  description: textSchema(2_000)
    .optional()
    .describe('What it is good at, for agents that look for one to delegate to'),
  frontmatter: textSchema(10_000)
    .optional()
    .describe(
      'More of that: tags, domains, languages; searched, and shown to agents that may delegate to it',
    ),
  max_delegation_load: z
    .int()
    .min(0)
    .max(1_000)
    .optional()
    .describe('Delegations that it works on at once; 5 when absent or 0'),
  /** Gates that its work must pass before anybody reads it (DE-6). */
  quality_gates: z.array(gateSchema).max(GATE_LIMITS.gates).optional(),
  /** Hooks that run before its sessions, prompts and calls start. */
  hooks: hooksSchema.optional(),
  memory: z
    .strictObject({
      at_compaction: z
        .boolean()
        .optional()
        .describe('Whether the summary of a long conversation is kept as memory/sessions/{session}.md'),
      conversations: z
        .boolean()
        .optional()
        .describe('Whether what users state is kept in memory/conversations.md; true when absent'),
      model: modelSchema
        .optional()
        .describe('The model that reads conversations for that; its own when absent'),
    })
    .optional()
    .describe('What of its conversations is kept without its doing'),
  knowledge: z
    .strictObject({ model: modelSchema })
    .optional()
    .describe('The model that draws facts from its memory; none are drawn when absent'),
  visible: z
    .boolean()
    .optional()
    .describe(
      'Each model call and tool call of its turns, and of its subagents’, is an activity that Temporal schedules',
    ),
};

/** The contents of an agent's row (`AgentConfig`). */
export const agentConfigSchema = z.strictObject({ key: nameSchema, ...fields });

/** The name in SPEC, and the names in GoClaw's rows. */
const AGENT_ALIASES = {
  toolNames: 'tool_names',
  agent_key: 'key',
  agent_type: 'type',
  tools_config: 'tools',
};

/**
 * Also accepts GoClaw's other places: the iterations of a turn beside the other fields, and gates, shell categories and
 * load in `other_config`, whose other fields are unknown here. A field that occurs twice is not moved, and so is
 * refused.
 */
function withAgentAliases<Schema extends z.ZodType>(schema: Schema) {
  return z.preprocess(
    (value) => {
      if (!isRecord(value)) return value;
      const { other_config = {}, max_tool_iterations: iterations, ...agent } = value;
      if (!isRecord(other_config)) return value;
      const {
        quality_gates: gates,
        shell_deny_groups: categories,
        max_delegation_load: load,
        ...others
      } = other_config;
      const moved = {
        ...(iterations !== undefined && { limits: { iterations } }),
        ...(gates !== undefined && { quality_gates: gates }),
        ...(categories !== undefined && { exec: { categories } }),
        ...(load !== undefined && { max_delegation_load: load }),
      };
      if (Object.keys(moved).some((name) => Object.hasOwn(value, name))) return value;
      return { ...agent, ...moved, ...(Object.keys(others).length > 0 && { other_config: others }) };
    },
    withAliases(AGENT_ALIASES, schema),
  );
}

const written = { tools: toolPolicySchema.optional() };

export const agentCreateSchema = withAgentAliases(
  agentConfigSchema.extend({ type: fields.type.default('open'), ...written }),
).meta({
  examples: [
    {
      key: 'researcher',
      model: 'openai/gpt-4.1-mini',
      instructions: 'You look things up and say where you found them.',
      tools: { profile: 'coding', ask: [{ tool: 'exec', args: { command: '*push*' } }] },
    },
  ],
});

/** The fields of the body replace the old ones whole; null removes an optional one. `key` cannot change. */
export const agentPatchSchema = withAgentAliases(
  z.strictObject({
    ...changeShape({ ...fields, ...written }),
    revision: z
      .int()
      .min(1)
      .optional()
      .describe('Only while this is its revision: what others have changed since is not lost'),
  }),
).meta({ examples: [{ model: 'anthropic/claude-sonnet-4-5', exec: { ask: 'always' } }] });

/** An agent in answers of the API. */
export const agentSchema = agentConfigSchema.extend({
  warnings: z
    .array(z.string())
    .optional()
    .describe('Rules that do what they say and perhaps not what was meant; absent in lists'),
  revision: z.int(),
  created_at: timeSchema,
  updated_at: timeSchema,
});
