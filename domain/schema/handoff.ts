/** Routes of conversations that were handed over, on the wire (DE-5). */
import { z } from 'zod';
import { nameSchema, sessionKeySchema, timeSchema } from './scalars.ts';

export const handoffRouteSchema = z.object({
  channel: z.string(),
  chat_id: z.string(),
  from: nameSchema,
  to: nameSchema,
  session_key: sessionKeySchema.meta({ description: 'In which the new agent speaks with the chat' }),
  reason: z.string(),
  is_open: z.boolean().meta({ description: 'False when the agent was deleted: the route is not followed' }),
  created_at: timeSchema,
});
