/** Links that decide an approval, on the wire. */
import { z } from 'zod';
import { TERM_LIMITS } from '#domain/approval/approval.ts';
import { labelSchema, timeSchema } from '#domain/schema/scalars.ts';

/** Decisions that a link can make; the others need the API. */
export const LINK_DECISIONS = ['approve', 'edit', 'reject'] as const;
export type LinkDecision = (typeof LINK_DECISIONS)[number];

export const approvalLinkCreateSchema = z
  .strictObject({
    for: labelSchema.describe('The user who decides by it'),
    decision: z
      .enum(LINK_DECISIONS)
      .optional()
      .describe('The only decision it can make; without it the page offers all'),
    expires_seconds: z
      .int()
      .min(1)
      .max(TERM_LIMITS.seconds)
      .optional()
      .describe('It ends with the approval at the latest'),
  })
  .meta({ examples: [{ for: 'ann' }] });

/** `url` is null in a repeated answer (Idempotency-Key), because it is not stored. */
export const approvalLinkSchema = z.object({
  id: z.string(),
  url: z.string().nullable().describe('Whoever has it decides as `for`: send it to nobody else'),
  for: z.string(),
  decision: z.enum(LINK_DECISIONS).nullable(),
  expires_at: timeSchema,
});
