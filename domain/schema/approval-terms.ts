/** AP-4: an approval's terms on the wire and in settings. */
import { z } from 'zod';
import { TERM_LIMITS } from '../approval/approval.ts';
import { SCOPES } from './api-key.ts';
import { labelSchema } from './scalars.ts';

export const approversSchema = z
  .strictObject({
    users: z.array(labelSchema).min(1).max(TERM_LIMITS.users).readonly().optional(),
    scopes: z.array(z.enum(SCOPES)).min(1).max(SCOPES.length).readonly().optional(),
  })
  .refine((input) => input.users !== undefined || input.scopes !== undefined, 'must name users or scopes');

const seconds = z.int().min(1).max(TERM_LIMITS.seconds);

/** The fields of a rule that asks; `termsProblem` says which of them exclude each other. */
export const approvalTermsShape = {
  /** Absent: the user of the turn, keys without a user, and admins may decide. */
  approvers: approversSchema.optional(),
  /** How many different people must agree; one rejection is enough to deny. Default 1. */
  quorum: z.int().min(1).max(TERM_LIMITS.quorum).optional(),
  /** The user of the turn may not decide. */
  exclude_requester: z.boolean().optional(),
  expires_seconds: seconds.optional(),
  /** When nobody decides, the call does not run. */
  on_expiry: z.literal('deny').optional(),
  /** After this time these may decide as well. */
  escalate: z.strictObject({ after_seconds: seconds, to: approversSchema }).optional(),
  /** Seconds between events that repeat that it waits. */
  remind_seconds: seconds.min(TERM_LIMITS.minRemindSeconds).optional(),
} as const;

export const approvalTermsSchema = z.object(approvalTermsShape);
