/** Tasks of teams on the wire (TE-2 … TE-6). */
import { z } from 'zod';
import { TEAM_LIMITS } from '../team/team.ts';
import { COMMENT_TYPES, TASK_STATUSES } from '../team/team-task.ts';
import { linksSchema, nameSchema, refusedRequestSchema, textSchema, timeSchema } from './scalars.ts';

const refSchema = z.union([z.string().min(1).max(128), z.int().min(1)]);
const blockersSchema = z
  .array(refSchema)
  .max(TEAM_LIMITS.blockers)
  .describe('Ids or numbers of tasks of this team that must be completed first');
const prioritySchema = z.int().min(-1_000).max(1_000);
const subjectSchema = textSchema(TEAM_LIMITS.subject).refine(
  (text) => text.trim() !== '',
  'must say something',
);
const descriptionSchema = textSchema(TEAM_LIMITS.description);

export const taskCreateSchema = z
  .strictObject({
    subject: subjectSchema,
    description: descriptionSchema.optional(),
    priority: prioritySchema.optional(),
    blocked_by: blockersSchema.optional(),
    assignee: nameSchema.optional().describe('The member that is woken; anyone may claim it when absent'),
    require_approval: z.boolean().optional().describe('Nobody begins before it is approved'),
  })
  .meta({ examples: [{ subject: 'Write the summary', assignee: 'writer' }] });

/** One body for all actions; fields that an action does not use are accepted and ignored. */
export const taskActionSchema = z
  .strictObject({
    member: nameSchema.optional().describe('As whom; absent: with the rights of the lead'),
    token: z.string().max(100).optional().describe('Of the lease, as claim gave it'),
    lease_seconds: z.int().min(1).max(TEAM_LIMITS.longestLeaseSeconds).optional(),
    text: textSchema(TEAM_LIMITS.text).optional().describe('Result, comment, reason, question or answer'),
    result: textSchema(TEAM_LIMITS.text).optional().describe('The same as `text`, for complete and review'),
    reason: textSchema(TEAM_LIMITS.text)
      .optional()
      .describe('The same as `text`, for cancel, reject and release'),
    type: z.enum(COMMENT_TYPES).optional(),
    percent: z.number().min(0).max(100).optional(),
    assignee: nameSchema.optional(),
    subject: subjectSchema.optional(),
    description: descriptionSchema.optional(),
    priority: prioritySchema.optional(),
    blocked_by: blockersSchema.optional(),
    file: z
      .strictObject({ name: textSchema(255), content: z.base64().max(14_000_000) })
      .optional()
      .describe('attach: base64, at most 10 MiB'),
  })
  .refine(
    ({ text, result, reason }) => [text, result, reason].filter((one) => one !== undefined).length < 2,
    {
      error: 'is the same as text, result or reason; send one of them',
      path: ['text'],
    },
  )
  .meta({ examples: [{ member: 'writer' }] });

const statusSchema = z.enum(TASK_STATUSES);

export const taskReceiptSchema = z.object({
  id: z.string(),
  number: z.int(),
  workflow_id: z.string(),
  status: statusSchema,
  owner: z.string().nullable(),
  assignee: z.string().nullable(),
  percent: z.int(),
  revision: z.int(),
  /** Further information, for example who has to act now. */
  note: z.string().optional().describe('Nothing changed, and why that is no error'),
  judging: z
    .literal(true)
    .optional()
    .describe('Handed in: it is completed or in review when its quality gates have let it pass'),
  /** Returned by claim and renew. */
  lease: z.object({ token: z.string(), fence: z.int(), until: timeSchema }).optional(),
});

export const taskSchema = z.object({
  id: z.string(),
  number: z.int(),
  team: nameSchema,
  workflow_id: z.string(),
  subject: z.string(),
  description: z.string(),
  status: statusSchema,
  assignee: z.string().nullable(),
  owner: z.string().nullable(),
  lease: z
    .object({
      member: z.string(),
      fence: z.int(),
      until: timeSchema.nullable(),
      session_key: z.string().nullable().describe('Where the member works on it; null for a claim over HTTP'),
    })
    .nullable(),
  priority: z.int(),
  percent: z.int(),
  blocked_by: z.array(z.string()),
  waiting_for: z.array(z.string()).describe('Those of blocked_by that are not completed'),
  question: z.string().nullable(),
  judging: z.boolean().describe('Quality gates judge what was handed in'),
  reason: z.string().nullable(),
  result: z.string().nullable(),
  created_by: z.string(),
  session_key: z.string().nullable().describe('Of the turn that made it'),
  turn_id: z.string().nullable(),
  revision: z.int(),
  refused: z.int().describe('Signals over Temporal that changed nothing'),
  last_refused: refusedRequestSchema,
  links: linksSchema,
  created_at: timeSchema,
  updated_at: timeSchema,
  started_at: timeSchema.nullable(),
  closed_at: timeSchema.nullable(),
});

export const taskEventSchema = z.object({
  id: z.int(),
  task_id: z.string(),
  number: z.int(),
  revision: z.int(),
  action: z.string(),
  actor: z.string(),
  reason: z.string().nullable(),
  status: statusSchema,
  owner: z.string().nullable(),
  at: timeSchema,
});

export const taskCommentSchema = z.object({
  id: z.string(),
  kind: z.string(),
  author: z.string(),
  text: z.string(),
  created_at: timeSchema,
});

export const taskFileSchema = z.object({
  id: z.string(),
  name: z.string(),
  size: z.int(),
  digest: z.string().describe('SHA-256, in hex'),
  author: z.string(),
  created_at: timeSchema,
});
