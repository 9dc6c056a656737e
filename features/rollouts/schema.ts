/** Rollouts, their changes and the runs of revisions on the wire. */
import { z } from 'zod';
import { agentConfigSchema, agentPatchSchema } from '#domain/schema/agent.ts';
import { labelSchema, nameSchema, sessionKeySchema, timeSchema } from '#domain/schema/scalars.ts';

/** The share of failed turns above which a rollout is put back, such as `failed>5%`: one of the limits on figures. */
const ABORT = /^failed>\d{1,2}(?:\.\d)?%$/;
/** Turns of the revision that have ended, before the rule says anything. */
export const TURNS_BEFORE_ABORT = 20;
/** Users, and sessions, that a rollout names. */
const MAX_NAMED = 1_000;
/** Newest turns that a comparison reads. */
export const MAX_COMPARED = 20_000;

const shareSchema = z
  .int()
  .min(0)
  .max(100)
  .describe('Of 100 users, how many get it; a session of nobody counts as a user');
const usersSchema = z
  .array(labelSchema)
  .max(MAX_NAMED)
  .describe('Their sessions get it, whatever the share is');
const sessionsSchema = z
  .array(sessionKeySchema)
  .max(MAX_NAMED)
  .describe('These get it, with the work that they give away, whatever the share is');
const abortSchema = z
  .string()
  .regex(ABORT, 'must be like failed>5%')
  .describe(`It is put back by itself when more turns fail, once ${TURNS_BEFORE_ABORT} have ended`);
const reasonSchema = z.string().trim().min(1).max(500).optional().describe('For people');

export const startSchema = z
  .strictObject({
    agent: nameSchema,
    change: agentPatchSchema
      .optional()
      .describe('What differs from the agent: the rollout is of a new revision'),
    revision: z.int().min(1).optional().describe('A revision that is there already, in place of a change'),
    share: shareSchema.default(0),
    users: usersSchema.default([]),
    sessions: sessionsSchema.default([]),
    abort_when: abortSchema.optional(),
    reason: reasonSchema,
  })
  .refine(({ change, revision }) => (change === undefined) !== (revision === undefined), {
    path: ['change'],
    message: 'give either a change or the number of a revision',
  })
  .meta({ examples: [{ agent: 'main', share: 10, change: { instructions: 'You are brief.' } }] });

const SETTABLE = ['share', 'users', 'sessions', 'abort_when'] as const;

/** A change of nothing would stand in the signed record as one. */
export const setSchema = z
  .strictObject({
    share: shareSchema.optional(),
    users: usersSchema.optional(),
    sessions: sessionsSchema.optional(),
    abort_when: abortSchema.nullable().optional(),
    number: z
      .int()
      .min(1)
      .optional()
      .describe('Only while this is its last change: nothing of others is lost'),
    reason: reasonSchema,
  })
  .refine((body) => SETTABLE.some((name) => body[name] !== undefined), {
    message: `give one of ${SETTABLE.join(', ')}`,
  })
  .meta({ examples: [{ share: 50 }] });

export const endSchema = z
  .strictObject({
    rollout: z.string().optional().describe('Only while this is the rollout in force'),
    reason: reasonSchema,
  })
  .default({});

export const rolloutSchema = z.object({
  agent: z.string(),
  id: z.string(),
  state: z.enum(['running', 'finished', 'back']),
  base: z.int().describe('What all others get'),
  revision: z.int(),
  share: z.int(),
  users: z.array(z.string()),
  sessions: z.array(z.string()),
  abort_when: z.string().nullable(),
  number: z.int().describe('Of its last change'),
  started_by: z.string(),
  started_at: timeSchema,
});

export const changeSchema = z.object({
  number: z.int().describe('Counts for the agent'),
  rollout: z.string(),
  action: z.enum(['start', 'set', 'finish', 'back']),
  base: z.int(),
  revision: z.int(),
  share: z.int(),
  users: z.int().describe('How many it names'),
  sessions: z.int().describe('How many it names'),
  reason: z.string().nullable(),
  by: z.string(),
  at: timeSchema,
});

const spread = z
  .object({ median: z.number(), p95: z.number() })
  .nullable()
  .describe('Null without ended turns');

export const runsSchema = z.object({
  agent: z.string(),
  since: timeSchema,
  partial: z.boolean().describe(`There are more: only the newest ${MAX_COMPARED} turns were read`),
  revisions: z.array(
    z.object({
      revision: z.int(),
      turns: z.int(),
      completed: z.int(),
      failed: z.int(),
      stopped: z.int(),
      open: z.int(),
      steps: spread,
      seconds: spread,
      input_tokens: z.int(),
      output_tokens: z.int(),
      cost_usd: z.number().nullable().describe('Null when no price of its models is known'),
      calls: z.int(),
      calls_failed: z.int(),
      approvals: z.int().describe('Calls for which a person was approvals'),
      approvals_denied: z.int().describe('Of these, those that a person did not permit'),
      policies: z.int().describe('How many policies of the tenant were in force meanwhile'),
      tools: z.int().describe('How many versions of its own tools, MCP servers and skills'),
    }),
  ),
});

export const revisionSchema = z.object({
  revision: z.int(),
  current: z.boolean().describe('What sessions get that are in no rollout'),
  in_rollout: z.boolean(),
  digest: z.string().describe('SHA-256 of its settings'),
  fields: z.array(z.string()).describe('Fields that differ from the revision before'),
  created_by: z.string().nullable(),
  created_at: timeSchema,
});

export const wholeRevisionSchema = revisionSchema.extend({ config: agentConfigSchema });

export const differenceSchema = z.object({
  from: z.int(),
  to: z.int(),
  fields: z.array(
    z.object({
      field: z.string(),
      before: z.unknown().describe('Null when it is absent'),
      after: z.unknown().describe('Null when it is absent'),
    }),
  ),
});
