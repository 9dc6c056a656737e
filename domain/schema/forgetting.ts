/** What was forgotten and how long data is kept, on the wire. */
import { z } from 'zod';
import { FORGET_SUBJECTS } from '../forgetting.ts';
import { type Kept, timeSchema } from './scalars.ts';

export const forgettingSchema = z.object({
  id: z.string(),
  kind: z.enum(FORGET_SUBJECTS),
  subject: z.string().describe('The session’s key, or the user'),
  status: z.enum(['running', 'done']),
  removed: z.record(z.string(), z.int()).meta({
    description: 'What has gone so far, by kind',
    examples: [{ messages: 14, events: 80, runs: 3 }],
  }),
  stays: z.array(z.string()).describe('What it does not reach, in words'),
  requested_by: z.string(),
  created_at: timeSchema,
  ended_at: timeSchema.nullable(),
});

export type Forgetting = Kept<typeof forgettingSchema>;

const days = z.int().min(1).max(36_500).optional();

/** Older data is deleted by the sweep that runs each minute; data without a limit is kept. */
export const retentionSchema = z
  .strictObject({
    events_days: days.describe('Events of sessions'),
    transcripts_days: days.describe(
      'Sessions without a turn for so long: messages, calls, approvals and all that is theirs',
    ),
    tasks_days: days.describe('Closed tasks of teams'),
    artifacts_days: days.describe('Artifacts that nobody has brought again for so long'),
  })
  .meta({ examples: [{ events_days: 30, transcripts_days: 365 }] });

/** The retention of a tenant; without one, that of the settings. */
export type Retention = Kept<typeof retentionSchema>;
