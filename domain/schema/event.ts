/** One event of a session's feed, as `data:` of the SSE stream contains it (IN-2). */
import { z } from 'zod';
import { EVENT_TYPES } from '../event.ts';
import { idSchema, jsonObjectSchema, sessionKeySchema, timeSchema } from './scalars.ts';

export const eventSchema = z.object({
  id: z.int(),
  type: z.enum(EVENT_TYPES),
  session_key: sessionKeySchema,
  turn_id: idSchema.optional(),
  at: timeSchema,
  data: jsonObjectSchema,
});
