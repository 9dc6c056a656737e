/** AP-4: an approval's terms on the wire and in settings. */
import { z } from 'zod';
import { TERM_LIMITS } from '../approval-terms.ts';
import { SCOPES } from './api-key.ts';
import { labelSchema } from './scalars.ts';

export const approversSchema = z
  .strictObject({
    users: z.array(labelSchema).min(1).max(TERM_LIMITS.users).readonly().optional(),
    scopes: z.array(z.enum(SCOPES)).min(1).max(SCOPES.length).readonly().optional(),
  })
  .refine((given) => given.users !== undefined || given.scopes !== undefined, 'must name users or scopes');

const seconds = z.int().min(1).max(TERM_LIMITS.seconds);

/** The fields of a rule that asks; `termsProblem` says which of them do not go together. */
export const approvalTermsShape = {
  approvers: approversSchema.optional(),
  quorum: z.int().min(1).max(TERM_LIMITS.quorum).optional(),
  exclude_requester: z.boolean().optional(),
  expires_seconds: seconds.optional(),
  on_expiry: z.literal('deny').optional(),
  escalate: z.strictObject({ after_seconds: seconds, to: approversSchema }).optional(),
  remind_seconds: seconds.min(TERM_LIMITS.minRemindSeconds).optional(),
} as const;
