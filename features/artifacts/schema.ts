/** Artifacts in answers of the API. */
import { z } from 'zod';
import { timeSchema } from '#domain/schema/scalars.ts';

export const artifactSchema = z.object({
  id: z.string(),
  type: z.string().describe('As its bytes show; of a text as it was called'),
  bytes: z.int(),
  sha256: z.string(),
  filename: z.string().nullable(),
  user: z.string().nullable().describe('Whose; null: the tenant’s, for whoever has the id'),
  created_at: timeSchema,
});
