/** Approvals on the wire (AP-1 … AP-4). */
import { z } from 'zod';
import {
  APPROVAL_STATUSES,
  APPROVAL_VERBS,
  DECISION_ALIASES,
  DECISIONS,
  readDecision,
} from '../approval/approval.ts';
import { RUNS_AT } from '../sandbox.ts';
import { approvalTermsSchema } from './approval-terms.ts';
import { mcpFormSchema } from './form.ts';
import {
  idSchema,
  jsonObjectSchema,
  type Kept,
  labelSchema,
  linksSchema,
  nameSchema,
  refusedRequestSchema,
  sessionKeySchema,
  textSchema,
  timeSchema,
} from './scalars.ts';

const alwaysSchema = z.object({
  allows: z
    .string()
    .nullable()
    .describe('In words: a program’s file and its exact arguments, or a call of the tool'),
  program: z.string().nullable().describe('Of a command: absolute path of what is started'),
  file: z.string().nullable().describe('The file behind that path’s links, where it is another'),
  args: z.array(z.string()).nullable().describe('Of a command: exactly these'),
  refused: z.string().nullable().describe('Why it can be decided once only'),
});

const originSchema = z
  .object({ id: idSchema, label: z.string(), parent_session: sessionKeySchema })
  .nullable();

export const approvalSchema = z.object({
  id: idSchema,
  workflow_id: z.string().describe('Signal or update `decide` on it from any Temporal client'),
  status: z.enum(APPROVAL_STATUSES),
  tool: z.string(),
  args: jsonObjectSchema.describe('Secrets are masked'),
  is_masked: z.boolean().describe('`args` hide a secret, so `edit` cannot start from them'),
  summary: z.string(),
  reason: z.string().nullable(),
  risk: z.string().nullable(),
  call_id: idSchema,
  turn_id: idSchema,
  session_key: sessionKeySchema,
  subagent: originSchema.describe('Which subagent asks, and whose it is; null when no subagent does'),
  delegation: originSchema.describe('Of which work that another session gave away; null when it is of none'),
  agent: nameSchema,
  agent_revision: z.int().nullable().describe('With which its turn runs'),
  user: z.string().nullable(),
  digest: z.string(),
  decision: z.enum(DECISIONS).nullable(),
  decided_by: z.string().nullable(),
  decided_at: timeSchema.nullable(),
  note: z.string().nullable(),
  terms: approvalTermsSchema.extend({
    decision_token: z
      .literal(true)
      .optional()
      .describe('Who decides by Temporal needs a decision token; this API needs none'),
    client_tool: z
      .literal(true)
      .optional()
      .describe('The sender of the message runs it: the decision is `respond` with its result, or `reject`'),
  }),
  always: alwaysSchema.describe('What `approve_always` would store, or why it is refused'),
  sandbox: jsonObjectSchema
    .nullable()
    .describe('Where it would run, as the agent was set; it does not run under another setting'),
  files: z
    .array(
      z.object({
        path: z.string().describe('From the workspace, as the call names it'),
        sha256: z.string().nullable(),
        bytes: z.int().nullable(),
        missing: z.boolean().describe('It was not there when the call was asked about'),
        unbound: z.string().nullable().describe('Why it is not known what it holds'),
      }),
    )
    .describe(
      'Files of the workspace that the call runs; one that has changed by its start is asked about anew',
    ),
  form: mcpFormSchema
    .nullable()
    .describe(
      'What an MCP server asks while it works at the call. `args` are the answer: `edit` sends others, `approve` these, `reject` declines; the call goes on',
    ),
  runs: z
    .enum(RUNS_AT)
    .nullable()
    .describe(
      'Where a command would run, as it was when it was asked about. `walled_host`: not in a sandbox, but kept from TempoClaw’s own files and ports; `host`: not even that, or only in part. Null for calls that run none',
    ),
  approved_by: z.array(z.string()).describe('Where there is a quorum: who agreed to these arguments'),
  tally: z.string().nullable().describe('`1 of 2`, where there is a quorum'),
  escalated_at: timeSchema.nullable(),
  refused: z.int().describe('Messages over Temporal that changed nothing'),
  last_refused: refusedRequestSchema,
  created_at: timeSchema,
  expires_at: timeSchema,
  links: linksSchema,
});

export const recordedDecisionSchema = z.object({
  decision: z.enum(DECISIONS),
  by: z.string(),
  via: z.enum(['api', 'link', 'temporal']),
  note: z.string().nullable(),
  at: timeSchema,
  counts: z
    .boolean()
    .describe('Agreement to the arguments as they are now, of somebody who may still decide'),
  proven: z.boolean().describe('A credential says who decided; else it is a claim'),
  key_name: z
    .string()
    .nullable()
    .describe('Name of the key; `oidc:ISSUER#SUBJECT` for a person of an identity provider'),
});

/** One approval, with every decision that was recorded. */
export const approvalDetailSchema = approvalSchema.extend({ decisions: z.array(recordedDecisionSchema) });

const momentSchema = z.iso.datetime({ offset: true });

/** Filters of a list of approvals; every field that is present must match. */
export const approvalFilterShape = {
  status: z.enum(APPROVAL_STATUSES).optional(),
  session_key: sessionKeySchema.optional(),
  turn_id: idSchema.optional(),
  agent: nameSchema.optional(),
  tool: textSchema(128).optional(),
  user: labelSchema.optional(),
  assignee: labelSchema.optional().meta({ description: 'Only those that this user may decide' }),
  requested_after: momentSchema.optional(),
  requested_before: momentSchema.optional(),
  mine: z
    .enum(['true', 'false'])
    .transform((word) => word === 'true')
    .optional()
    .describe('Only those that this key may decide'),
} as const;

export const approvalFilterSchema = z.strictObject(approvalFilterShape);

const digestSchema = z.string().regex(/^[0-9a-f]{64}$/, 'must be the `digest` of the approval');

const words = [...DECISIONS, ...Object.keys(DECISION_ALIASES)];

/** The body has no `by`: the key identifies the person. */
export const decisionSchema = z
  .strictObject({
    decision: z
      .string()
      .refine((word) => readDecision(word) !== undefined, `must be one of ${words.join(', ')}`)
      .meta({ enum: words }),
    args: jsonObjectSchema.optional().describe('For `edit`: the whole arguments to run instead'),
    scope: z.enum(['once', 'always']).optional().describe('`approve` with `always` is `approve_always`'),
    reason: textSchema(16_384).optional().describe('For `reject`: the model is told'),
    text: textSchema(16_384).optional().describe('For `respond`: what the model reads instead'),
    digest: digestSchema
      .optional()
      .describe('Of the call that was looked at: 409 when it has been edited since'),
  })
  .refine((body) => readDecision(body.decision) !== 'edit' || body.args !== undefined, {
    path: ['args'],
    message: 'edit needs args: the whole arguments object to run instead',
  })
  .refine((body) => readDecision(body.decision) !== 'respond' || (body.text ?? '').trim() !== '', {
    path: ['text'],
    message: 'respond needs text',
  })
  .refine((body) => body.scope !== 'always' || readDecision(body.decision)?.startsWith('approve'), {
    path: ['scope'],
    message: 'only approve can be for always',
  })
  .refine((body) => body.scope !== 'once' || readDecision(body.decision) !== 'approve_always', {
    path: ['scope'],
    message: 'must be always, or the decision approve',
  })
  .meta({ examples: [{ decision: 'approve' }, { decision: 'reject', reason: 'Not on a Friday' }] });

export const decisionReceiptSchema = z.object({
  approval_id: idSchema,
  status: z.enum(APPROVAL_STATUSES),
  decision: z.enum(DECISIONS),
  decided_by: z.string(),
  decided_at: timeSchema,
  already: z.literal(true).optional().describe('It had been decided the same before'),
  approvals: z.int().optional().describe('While a quorum is not complete: people who agreed'),
  quorum: z.int().optional(),
  tally: z.string().optional().describe('`1 of 2`'),
});

export const approvalTokenCreateSchema = z
  .strictObject({
    decision: z
      .enum(APPROVAL_VERBS)
      .describe('The only thing it can be sent for; `withdraw` and `escalate` are messages of their own'),
    by: labelSchema.optional().describe('The user who decides with it; the key’s own when it has one'),
    digest: digestSchema
      .optional()
      .describe('Of the call that was looked at: 409 when it has been edited since'),
  })
  .meta({ examples: [{ decision: 'approve' }, { decision: 'reject', by: 'ann' }] });

export const approvalTokenSchema = z.object({
  approval_id: idSchema,
  token: z.string().nullable().describe('Null in a repeated answer: it is kept nowhere'),
  decision: z.enum(APPROVAL_VERBS),
  digest: z.string().describe('Of the call that it is about'),
  by: z.string().nullable().describe('Whom it proves'),
  expires_at: timeSchema,
});

/** Greatest number of approvals that one request may decide. */
export const MAX_BULK = 100;

const bulkWords = words.filter((word) => readDecision(word) !== 'edit');

export const bulkDecisionSchema = z
  .strictObject({
    ids: z
      .array(
        z.union([z.string().max(200), z.strictObject({ id: z.string().max(200), digest: digestSchema })]),
      )
      .min(1)
      .max(MAX_BULK)
      .optional()
      .describe('Ids, or ids with the `digest` of the call that was looked at'),
    filter: approvalFilterSchema
      .omit({ status: true, mine: true })
      .optional()
      .describe('All that wait and that the key may decide, the newest first'),
    decision: z.enum(bulkWords as [string, ...string[]]).describe('Every decision but `edit`'),
    reason: textSchema(16_384).optional(),
    text: textSchema(16_384).optional(),
  })
  .refine((body) => (body.ids === undefined) !== (body.filter === undefined), {
    path: ['ids'],
    message: 'give ids or a filter',
  })
  .refine((body) => readDecision(body.decision) !== 'respond' || (body.text ?? '').trim() !== '', {
    path: ['text'],
    message: 'respond needs text',
  })
  .meta({ examples: [{ ids: ['apr_default.m-1.1.0', 'apr_default.m-2.1.0'], decision: 'approve' }] });

export const bulkReceiptSchema = z.object({
  data: z.array(
    z.object({
      id: z.string(),
      ok: z.boolean(),
      receipt: decisionReceiptSchema.optional(),
      error: z.object({ code: z.string(), status: z.int(), detail: z.string() }).optional(),
    }),
  ),
  has_more: z.boolean().describe('The filter matches more than one request decides'),
});

/** The answer to the winner, and to those who made the same decision afterwards (`already`). */
export type DecisionReceipt = Kept<typeof decisionReceiptSchema>;
