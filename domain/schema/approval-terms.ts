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
  .refine((input) => input.users !== undefined || input.scopes !== undefined, 'must name users or scopes');

const seconds = z.int().min(1).max(TERM_LIMITS.seconds);

/** The fields of a rule that asks; `termsProblem` says which of them do not go together. */
export const approvalTermsShape = {
  /** Absent: the user whose turn it is, keys without a user, and admins. */
  approvers: approversSchema.optional(),
  /** How many different people must agree; one who rejects is enough to deny. 1 by default. */
  quorum: z.int().min(1).max(TERM_LIMITS.quorum).optional(),
  /** The user whose turn it is may not decide. */
  exclude_requester: z.boolean().optional(),
  expires_seconds: seconds.optional(),
  /** What happens when nobody decides: nothing runs. */
  on_expiry: z.literal('deny').optional(),
  /** From then on these may decide as well. */
  escalate: z.strictObject({ after_seconds: seconds, to: approversSchema }).optional(),
  /** An event says again that it waits, so often. */
  remind_seconds: seconds.min(TERM_LIMITS.minRemindSeconds).optional(),
} as const;

export const approvalTermsSchema = z.object(approvalTermsShape);
