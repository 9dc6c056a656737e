/** Outgoing webhooks and their deliveries, as requests and answers contain them. */
import { z } from 'zod';
import { EVENT_TYPES } from '#domain/event.ts';
import { BREAKER_STATES, eventProblem, mailAddressOf, ROTATION_SECONDS } from './contract.ts';
import {
  changeShape,
  labelSchema,
  nameSchema,
  sessionKeySchema,
  textSchema,
  timeSchema,
} from '#domain/schema/scalars.ts';

/** 24 to 64 bytes, as the specification of Standard Webhooks requires. */
export const webhookSecretSchema = z
  .string()
  .regex(/^whsec_[A-Za-z0-9+/]+={0,2}$/, 'must be whsec_ and base64')
  .refine((secret) => {
    const { length } = Buffer.from(secret.slice('whsec_'.length), 'base64');
    return length >= 24 && length <= 64;
  }, 'must have 24 to 64 bytes after whsec_; make one with: echo whsec_$(openssl rand -base64 32)');

const eventsSchema = z
  .array(
    z
      .string()
      .max(100)
      .superRefine((required, context) => {
        const problem = eventProblem(required, EVENT_TYPES);
        if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
      }),
  )
  .min(1)
  .max(50);

function isWebUrl(url: string): boolean {
  return z.url({ protocol: /^https?$/ }).safeParse(url).success;
}

const settings = {
  url: z
    .string()
    .max(2_000)
    .refine((url) => isWebUrl(url) || z.email().safeParse(mailAddressOf(url)).success, {
      error: 'must be an http:// or https:// URL, or mailto: and one address',
    })
    .describe('`mailto:` and one address: mails about approvals in place of POSTs'),
  events: eventsSchema.describe('Kinds of events; `approval.*` for a group of them, `*` for all'),
  agent: nameSchema.optional().describe('Only of sessions of this agent'),
  session_key: sessionKeySchema.optional().describe('Only of this session'),
  user: labelSchema
    .optional()
    .describe('Who decides by the links of its mails; the address unless given. Only with `mailto:`'),
  description: textSchema(500).optional(),
};

const ordered = z
  .boolean()
  .describe('Events of one session one after the other, each when the one before is over; mails always are');

export const webhookCreateSchema = z.strictObject({
  ...settings,
  ordered: ordered.default(false),
  secret: webhookSecretSchema.optional().describe('Made here when it is not given'),
});

export const webhookChangeSchema = z.strictObject({
  ...changeShape({ ...settings, ordered }),
  enabled: z.boolean().optional().describe('True also brings one back that was disabled for failing'),
});

export const webhookRotationSchema = z.strictObject({
  secret: webhookSecretSchema.optional().describe('Made here when it is not given'),
  both_for_seconds: z
    .int()
    .min(0)
    .max(30 * 86_400)
    .default(ROTATION_SECONDS)
    .describe('So long deliveries are signed with the secret before as well'),
});

/** Of webhooks and channels. */
export const breakerShape = {
  state: z
    .enum(BREAKER_STATES)
    .describe(
      '`open`: it has failed, and is probed at `next_attempt_at`; `half-open`: the next attempt decides',
    ),
  failures: z.int().describe('Failed attempts in a row'),
  next_attempt_at: timeSchema.nullable().describe('Nothing is sent before; null while it is `closed`'),
};

export const webhookSchema = z.object({
  id: z.uuid(),
  url: z.string(),
  events: z.array(z.string()),
  agent: z.string().nullable(),
  session_key: z.string().nullable(),
  user: z.string().nullable(),
  description: z.string().nullable(),
  ordered: z.boolean(),
  enabled: z.boolean(),
  disabled_reason: z.string().nullable().describe('Why it was disabled, when nobody did it'),
  failing_since: timeSchema.nullable().describe('No delivery has come through since then'),
  ...breakerShape,
  created_by: z.string(),
  created_at: timeSchema,
});

export const webhookWithSecretSchema = webhookSchema.extend({
  secret: z.string().describe('Shown this once'),
});

export const DELIVERY_STATUSES = ['pending', 'delivered', 'failed'] as const;

export const deliverySchema = z.object({
  id: z.string().describe('The `webhook-id` of each attempt'),
  event: z.string(),
  session_key: z.string(),
  event_id: z.int(),
  status: z.enum(DELIVERY_STATUSES),
  attempts: z.int().describe('Since it was sent again last'),
  waits: z.int().describe('Attempts at which the receiver said when to come again'),
  redelivered: z.int().describe('How often it was sent again'),
  last_status: z.int().nullable().describe('The HTTP status of the last answer, or the code of SMTP'),
  problem: z.string().nullable().describe('Of a mail that is over also why there was nothing to send'),
  next_attempt_at: timeSchema.nullable(),
  created_at: timeSchema,
  ended_at: timeSchema.nullable(),
});

export const notifyTestCreateSchema = z.strictObject({
  to: z.string().max(2_000).optional().describe('Only to the webhook with this id, URL or mail address'),
});

export const notifyTestSchema = z.object({
  webhook_id: z.string(),
  url: z.string(),
  delivery_id: z.string(),
  status: z.enum(DELIVERY_STATUSES),
  last_status: z.int().nullable(),
  problem: z.string().nullable(),
});
export type NotifyTest = z.infer<typeof notifyTestSchema>;

/** Deliveries as a table, also those of channels. */
export const DELIVERIES = {
  flags: { status: ['--status <status>', DELIVERY_STATUSES.join(', ')] },
  columns: {
    id: 'id',
    event: 'event',
    status: 'status',
    attempts: 'attempts',
    problem: { flexible: 'problem' },
    created: { ago: 'created_at' },
  },
  nothing: 'no deliveries',
} as const;

/** Whether an enabled webhook or channel works, as a column. */
export function stateWords({
  state,
  failing_since,
}: Pick<z.output<typeof webhookSchema>, 'state' | 'failing_since'>): string {
  if (state !== 'closed') return state;
  return failing_since ? 'failing' : 'on';
}
