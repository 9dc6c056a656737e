/** Rules that are tried on recorded calls, what they would change, and rules that decisions suggest, on the wire. */
import { z } from 'zod';
import { execPolicySchema, sharedExecPolicySchema, toolPolicySchema } from '#domain/schema/agent.ts';
import { tenantPolicySchema } from '#domain/schema/policy.ts';
import { idSchema, nameSchema, pageSchema, sessionKeySchema, timeSchema } from '#domain/schema/scalars.ts';

const MAX_DAYS = 90;

/** Rules to try; each part that is present replaces the one in force. */
export const backtestSchema = z
  .strictObject({
    days: z.int().min(1).max(MAX_DAYS).default(7),
    settings: z
      .strictObject({ tools: toolPolicySchema.optional(), exec: sharedExecPolicySchema.optional() })
      .optional()
      .describe('`tools` and `exec` as in tempoclaw.yaml'),
    tenant: tenantPolicySchema.optional(),
    agents: z
      .record(
        nameSchema,
        z.strictObject({ tools: toolPolicySchema.optional(), exec: execPolicySchema.optional() }),
      )
      .optional(),
    limit: z.int().min(1).max(200).default(50).describe('Differing calls on a page'),
    after: z.string().max(500).optional().describe('`next_cursor` of the page before'),
  })
  .meta({ examples: [{ days: 30, settings: { tools: { deny: ['group:runtime'] } } }] });

const counts = z.object({ allow: z.int(), ask: z.int(), deny: z.int() });
const decision = z.enum(['allow', 'ask', 'deny']);

const differingCallSchema = z.object({
  call_id: idSchema,
  session_key: sessionKeySchema,
  turn_id: idSchema,
  agent: z.string(),
  user: z.string().nullable(),
  tool: z.string(),
  summary: z.string(),
  created_at: timeSchema,
  before: decision,
  after: decision,
  step: z.string(),
  rule: z.string().nullable(),
  reason: z.string().nullable(),
  masked: z.boolean().describe('It had a secret, and was judged as people may see it'),
});

const backtestCountsSchema = z.object({
  since: timeSchema,
  calls: z.int().describe('Looked at, newest first'),
  truncated: z.boolean().describe('There are more calls than were looked at'),
  before: counts.describe('As it was recorded'),
  after: counts.describe('As it would be'),
  differ: z.int(),
  unreadable: z.int().describe('Not counted: the tool is gone or takes other arguments now'),
});

export const backtestReportSchema = pageSchema(differingCallSchema).extend(backtestCountsSchema.shape);

export const allowRuleSchema = z.object({
  tool: z.string(),
  decision: z.literal('allow'),
  args: z.record(z.string(), z.string()),
  only_args: z.array(z.string()),
  agent: z.string().optional(),
});

export const ruleProposalSchema = z.object({
  id: idSchema,
  agent: z.string(),
  tool: z.string(),
  adds: z
    .union([z.object({ allowlist: z.string() }), z.object({ rule: allowRuleSchema })])
    .describe('An entry of `exec.allowlist`, or a rule before the others'),
  place: z
    .enum(['agent', 'tenant', 'settings'])
    .describe('Whose rules it is added to; those of the settings are changed in tempoclaw.yaml, by hand'),
  approvals: z.int().describe('Calls of the last 30 days that people approved and it would allow'),
  examples: z.array(z.string()).describe('What approvals of them said, the newest first'),
  backtest: backtestCountsSchema.nullable().describe('On the calls of the last 30 days; null in lists'),
});
