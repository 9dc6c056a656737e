/** What has changed in a tenant since the last notice, as `data:` of the stream of changes contains it. */
import { z } from 'zod';
import { nameSchema, sessionKeySchema } from './scalars.ts';

export const changeSchema = z.object({
  sessions: z.array(sessionKeySchema).nullable().describe('Those with new events; null: any may have some'),
  teams: z.array(nameSchema).nullable().describe('Those whose tasks have changed; null: any may have'),
});
