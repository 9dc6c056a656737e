/** Rounds of making and judging (DE-4), on the wire. */
import { z } from 'zod';
import { EVALUATION_STATUSES } from './contract.ts';
import { errorSchema } from '#domain/schema/assignment.ts';
import { idSchema, linksSchema, nameSchema, sessionKeySchema, timeSchema } from '#domain/schema/scalars.ts';

export const evaluationSchema = z.object({
  id: idSchema,
  workflow_id: z.string(),
  origin_session: sessionKeySchema,
  generator: nameSchema,
  evaluator: nameSchema,
  label: z.string(),
  task: z.string(),
  max_rounds: z.int(),
  status: z.enum(EVALUATION_STATUSES),
  error: errorSchema,
  stopped_by: z.string().nullable(),
  links: linksSchema,
  created_at: timeSchema,
  ended_at: timeSchema.nullable(),
});

export const evaluationDetailSchema = evaluationSchema.extend({
  rounds: z.array(
    z.object({
      round: z.int(),
      draft: z.string(),
      verdict: z.enum(['approved', 'rejected']).nullable(),
      feedback: z.string().nullable(),
    }),
  ),
});

export const evaluationStopReceiptSchema = z.object({ id: idSchema, status: z.enum(EVALUATION_STATUSES) });
