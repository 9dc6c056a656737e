/** Rounds of making and judging on the wire (DE-4). */
import { z } from 'zod';
import { EVALUATION_STATUSES } from '../evaluate-loop.ts';
import { idSchema, linksSchema, nameSchema, sessionKeySchema, textSchema, timeSchema } from './scalars.ts';

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
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
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

export const evaluationStopSchema = z
  .strictObject({ reason: textSchema(1_000).optional() })
  .meta({ examples: [{ reason: 'no longer needed' }] });

export const evaluationStopReceiptSchema = z.object({ id: idSchema, status: z.enum(EVALUATION_STATUSES) });
