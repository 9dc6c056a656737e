/** Sessions on the wire. */
import { z } from 'zod';
import { idSchema, linksSchema, nameSchema, sessionKeySchema, timeSchema } from './scalars.ts';

export const SESSION_STATUSES = ['idle', 'queued', 'running', 'waiting_approval'] as const;

export const sessionSchema = z.object({
  key: sessionKeySchema,
  agent: nameSchema,
  user: z.string().nullable(),
  channel: z.string().nullable(),
  chat_id: z.string().nullable(),
  title: z.string().nullable(),
  status: z.enum(SESSION_STATUSES),
  turn_id: idSchema.nullable().describe('The turn that runs or waits first'),
  turns: z.int(),
  forked_from: z
    .object({
      session: sessionKeySchema,
      turn_id: idSchema,
      step: z.int().nullable().describe('The first step that was not copied; null for the end of the turn'),
    })
    .nullable()
    .describe('Where it was forked from another session'),
  last_event_id: z.int(),
  workflow_id: z.string(),
  links: linksSchema,
  created_at: timeSchema,
  updated_at: timeSchema,
});
