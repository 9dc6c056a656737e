/** A tenant's policy on the wire. */
import { z } from 'zod';
import { hooksSchema } from '#domain/schema/hook.ts';
import {
  domainRulesSchema,
  execPolicySchema,
  policyObjectSchema,
  sharedExecPolicySchema,
  toolPolicySchema,
} from './agent.ts';
import {
  idSchema,
  jsonObjectSchema,
  nameSchema,
  pageSchema,
  sessionKeySchema,
  timeSchema,
} from './scalars.ts';

/** The contents of a tenant's row (`TenantPolicy`). */
export const tenantPolicySchema = z
  .strictObject({
    tools: toolPolicySchema.optional(),
    exec: sharedExecPolicySchema.optional(),
    egress: domainRulesSchema.optional(),
    hooks: hooksSchema.optional(),
  })
  .meta({
    examples: [{ tools: { ask: [{ tool: 'exec', args: { command: '*push*' } }] } }],
  });

export const policyChangeIdSchema = z.string().regex(/^[1-9]\d{0,17}$/, 'must be the `id` of a change');

export const shownTenantPolicySchema = z.object({
  tools: policyObjectSchema.optional(),
  exec: sharedExecPolicySchema.optional(),
  egress: domainRulesSchema.optional(),
  hooks: hooksSchema.optional(),
  warnings: z.array(z.string()).describe('Rules that do what they say and perhaps not what was meant'),
});

/** Policies as they were when written: rules may have other names now, so they are shown unchanged. */
export const policyChangeSchema = z.object({
  id: policyChangeIdSchema,
  from: jsonObjectSchema,
  to: jsonObjectSchema,
  changed_by: z.string(),
  changed_at: timeSchema,
});

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

export const ruleProposalSchema = z.object({
  id: idSchema,
  agent: z.string(),
  tool: z.string(),
  adds: z
    .union([
      z.object({ allowlist: z.string() }),
      z.object({
        rule: z.object({
          tool: z.string(),
          decision: z.literal('allow'),
          args: z.record(z.string(), z.string()),
          only_args: z.array(z.string()),
          agent: z.string().optional(),
        }),
      }),
    ])
    .describe('An entry of `exec.allowlist`, or a rule before the others'),
  place: z
    .enum(['agent', 'tenant', 'settings'])
    .describe('Whose rules it is added to; those of the settings are changed in tempoclaw.yaml, by hand'),
  approvals: z.int().describe('Calls of the last 30 days that people approved and it would allow'),
  examples: z.array(z.string()).describe('What approvals of them said, the newest first'),
  backtest: backtestCountsSchema.nullable().describe('On the calls of the last 30 days; null in lists'),
});
