/** What people allowed always, on the wire. */
import { z } from 'zod';
import { idSchema, nameSchema, timeSchema } from './scalars.ts';

export const allowlistEntrySchema = z.object({
  id: z.string(),
  agent: nameSchema,
  user: z.string().nullable().meta({ description: 'Null: for everybody who talks to the agent' }),
  tool: z.string(),
  allows: z
    .string()
    .meta({ description: 'The file that a command starts and its exact arguments, or a call’s arguments' }),
  approval_id: idSchema.nullable(),
  created_by: z.string(),
  created_at: timeSchema,
});
