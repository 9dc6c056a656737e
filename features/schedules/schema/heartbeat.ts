/** Heartbeats in requests and answers. */
import { z } from 'zod';
import { ACTIVE_HOURS, CHECKLIST, HEARTBEAT_LIMITS, QUIET_ANSWER } from '../contract/heartbeat.ts';
import { SCHEDULE_LIMITS } from '../contract/schedule.ts';
import {
  changeShape,
  idSchema,
  linksSchema,
  nameSchema,
  sessionKeySchema,
  wordsSchema,
  timeSchema,
} from '#domain/schema/scalars.ts';

/** Fields that are absent stay as they were, or are those of HEARTBEAT_DEFAULTS. */
export const heartbeatFields = {
  enabled: z.boolean().describe('false: paused'),
  interval: z
    .int()
    .min(HEARTBEAT_LIMITS.min)
    .max(HEARTBEAT_LIMITS.max)
    .describe(
      `Seconds between two beats, at least ${HEARTBEAT_LIMITS.min}; ${HEARTBEAT_LIMITS.usual} by default`,
    ),
  prompt: wordsSchema(SCHEDULE_LIMITS.message).describe(
    `What the agent is told, in place of the usual words; say there when to answer ${QUIET_ANSWER}`,
  ),
  ack_max_chars: z
    .int()
    .min(0)
    .max(HEARTBEAT_LIMITS.ackChars)
    .describe(`An answer is quiet with at most so many characters beside ${QUIET_ANSWER}; 300 by default`),
  max_retries: z
    .int()
    .min(0)
    .max(HEARTBEAT_LIMITS.retries)
    .describe('Of a beat whose turn has failed; 2 by default'),
  isolated_session: z
    .boolean()
    .describe('Each beat in a session of its own (the default); false: in the one it speaks in'),
  light_context: z.boolean().describe(`The prompt has no other file than ${CHECKLIST}`),
  active_hours: z
    .string()
    .regex(ACTIVE_HOURS, 'must be HH:MM-HH:MM, such as 08:00-22:00')
    .optional()
    .describe('HH:MM-HH:MM, may go over midnight; at all times unless given'),
  timezone: z.string().min(1).max(64).describe('IANA zone of active_hours; UTC by default'),
  model: z
    .string()
    .max(300)
    .regex(/^[^/\s]+\/\S+$/, 'must be provider/model')
    .optional()
    .describe('provider/model in place of the agent’s, such as a cheaper one'),
};

export const heartbeatChangeSchema = z
  .strictObject(
    changeShape({
      ...heartbeatFields,
      prompt: heartbeatFields.prompt.optional(),
      session: sessionKeySchema.optional(),
    }),
  )
  .meta({ examples: [{ interval: 3_600, active_hours: '08:00-22:00', timezone: 'Europe/Berlin' }] });

export const heartbeatSchema = z.object({
  id: idSchema,
  agent: nameSchema,
  user: z.string().nullable(),
  ...heartbeatFields,
  active_hours: z.string().nullable(),
  model: z.string().nullable(),
  session: z.string().nullable().describe('Where it speaks; null: nowhere'),
  checklist: z.enum(['written', 'empty']).describe(`Of ${CHECKLIST}; while it is empty, beats are skipped`),
  next_runs: z.array(timeSchema).describe('The next five in UTC; none while it is paused'),
  created_by: z.string(),
  created_at: timeSchema,
  updated_at: timeSchema,
  links: linksSchema,
});
