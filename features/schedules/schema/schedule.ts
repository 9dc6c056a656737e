/** Schedules in requests and answers. */
import { z } from 'zod';
import { OVERLAPS, RUN_STATES, SCHEDULE_LIMITS } from '../contract/schedule.ts';
import { TURN_STATUSES } from '#domain/turn/turn.ts';
import {
  changeShape,
  idSchema,
  type Kept,
  labelSchema,
  linksSchema,
  nameSchema,
  sessionKeySchema,
  textSchema,
  wordsSchema,
  timeSchema,
} from '#domain/schema/scalars.ts';

export const timingSchema = z
  .discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('at'), at: z.iso.datetime({ offset: true }) }),
    z.strictObject({
      kind: z.literal('every'),
      every_seconds: z.int().min(SCHEDULE_LIMITS.gap).max(SCHEDULE_LIMITS.catchup),
      from: z.iso
        .datetime({ offset: true })
        .optional()
        .describe('When the first interval begins; when it is made unless given'),
    }),
    z.strictObject({
      kind: z.literal('cron'),
      expr: textSchema(200).describe(
        'Five fields, or six with the second first; with both day fields given, either of them matches',
      ),
      tz: z.string().min(1).max(64).default('UTC').describe('An IANA time zone'),
    }),
  ])
  .meta({ examples: [{ kind: 'cron', expr: '0 9 * * 1-5', tz: 'Europe/Berlin' }] });

export type Timing = Kept<typeof timingSchema>;

const fields = {
  schedule: timingSchema,
  message: wordsSchema(SCHEDULE_LIMITS.message).describe('What the agent is told'),
  deliver: z
    .enum(['none', 'session'], {
      error: 'must be session or none: what is said in a channel’s session is told in its chat',
    })
    .describe('`session`: it is said, and answered, in that session; `none`: in one of the run’s own'),
  session: sessionKeySchema.optional(),
  delete_after_run: z.boolean(),
  enabled: z.boolean(),
  overlap: z
    .enum(OVERLAPS)
    .describe('While an earlier run’s turn goes on: `skip` this one, or `allow` it beside or after that'),
  catchup_seconds: z
    .int()
    .min(10)
    .max(SCHEDULE_LIMITS.catchup)
    .describe('A run that is later than this, since nothing was there to start it, is left out'),
  allowed_tools: z.array(z.string().max(128)).max(500).optional(),
};

export const scheduleCreateSchema = z
  .strictObject({
    name: nameSchema,
    agent: nameSchema.default('main'),
    user: labelSchema.optional(),
    ...fields,
    deliver: fields.deliver.default('none'),
    delete_after_run: fields.delete_after_run.default(false),
    enabled: fields.enabled.default(true),
    overlap: fields.overlap.default('skip'),
    catchup_seconds: fields.catchup_seconds.default(3_600),
  })
  .meta({
    examples: [
      {
        name: 'morning-report',
        schedule: { kind: 'cron', expr: '0 9 * * 1-5', tz: 'Europe/Berlin' },
        message: 'Write the morning report.',
      },
    ],
  });

/** Fields that are present replace the old ones whole; null removes an optional one. */
export type NewSchedule = Kept<typeof scheduleCreateSchema>;

export const schedulePatchSchema = z
  .strictObject({
    ...changeShape(fields),
    revision: z
      .int()
      .min(1)
      .optional()
      .describe('Only while this is its revision: what others have changed since is not lost'),
  })
  .meta({ examples: [{ enabled: false }] });

export const scheduleSchema = z.object({
  id: idSchema,
  name: nameSchema,
  agent: nameSchema,
  user: z.string().nullable(),
  schedule: timingSchema,
  message: z.string(),
  deliver: z.enum(['none', 'session']),
  session: z.string().nullable(),
  delete_after_run: z.boolean(),
  enabled: z.boolean(),
  overlap: z.enum(OVERLAPS),
  catchup_seconds: z.int(),
  allowed_tools: z
    .array(z.string())
    .nullable()
    .describe('Null: all that its agent has; a change only narrows it'),
  next_runs: z.array(timeSchema).describe('The next five in UTC; none while it is paused'),
  revision: z.int(),
  created_by: z.string(),
  created_at: timeSchema,
  updated_at: timeSchema,
  links: linksSchema,
});

export const scheduleRunSchema = z.object({
  at: timeSchema.describe('The instant that it is for'),
  forced: z.boolean().describe('Somebody wanted it then'),
  status: z
    .enum(['starting', ...RUN_STATES, 'quiet', 'said', ...TURN_STATUSES])
    .describe(
      '`skipped` and `refused` began no turn; else the turn’s, and of a heartbeat that has ended `quiet`, `said` or `failed`',
    ),
  reason: z.string().nullable(),
  session: z.string().nullable(),
  turn_id: z.string().nullable(),
  text: z.string().nullable().describe('The answer, its first 2000 characters'),
  links: linksSchema,
});
