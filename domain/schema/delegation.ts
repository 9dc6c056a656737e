/** Delegations on the wire (DE-2, DE-6). */
import { z } from 'zod';
import { DELEGATION_MODES, DELEGATION_STATUSES } from '../delegation.ts';
import { idSchema, linksSchema, nameSchema, sessionKeySchema, textSchema, timeSchema } from './scalars.ts';

const gateCheckSchema = z.object({
  gate: z.string(),
  attempt: z.int().meta({ description: 'From 0: the work as it was first done' }),
  kind: z.enum(['passed', 'failed', 'broken']),
  step: z.enum(['pass', 'retry', 'warn', 'block']),
  feedback: z.string(),
  at: timeSchema,
});

export const delegationSchema = z.object({
  id: idSchema,
  workflow_id: z.string(),
  origin_session: sessionKeySchema,
  origin_turn: idSchema,
  origin_call: idSchema,
  source: nameSchema,
  target: nameSchema,
  session_key: sessionKeySchema.meta({ description: 'The session that the target works in' }),
  depth: z.int(),
  user: z.string().nullable(),
  label: z.string(),
  task: z.string(),
  mode: z.enum(DELEGATION_MODES),
  status: z.enum(DELEGATION_STATUSES),
  result: z.string().nullable(),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
  warnings: z.array(z.string()).meta({ description: 'Of gates that let it pass all the same' }),
  iterations: z.int(),
  usage: z.object({ input_tokens: z.int(), output_tokens: z.int() }),
  stopped_by: z.string().nullable(),
  links: linksSchema,
  created_at: timeSchema,
  started_at: timeSchema.nullable(),
  ended_at: timeSchema.nullable(),
});

export const delegationDetailSchema = delegationSchema.extend({ checks: z.array(gateCheckSchema) });

export const delegationStopSchema = z
  .strictObject({ reason: textSchema(1_000).optional() })
  .meta({ examples: [{ reason: 'no longer needed' }] });

export const delegationStopReceiptSchema = z.object({ id: idSchema, status: z.enum(DELEGATION_STATUSES) });
