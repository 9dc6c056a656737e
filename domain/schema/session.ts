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
  last_event_id: z.int(),
  workflow_id: z.string(),
  links: linksSchema,
  created_at: timeSchema,
  updated_at: timeSchema,
});
