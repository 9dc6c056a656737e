/** Work that agents give each other, on the wire: subagents and delegations (DE-2, DE-6). */
import { z } from 'zod';
import { WORK_STATUSES } from '../assignment/assignment.ts';
import { ASSIGNMENT_MODES } from '../assignment/delegation.ts';
import { ANNOUNCE_MODES, STEER_TEXT } from '../assignment/subagent.ts';
import { idSchema, linksSchema, nameSchema, sessionKeySchema, textSchema, timeSchema } from './scalars.ts';

export const errorSchema = z.object({ code: z.string(), message: z.string() }).nullable();

/** Fields of the kinds that use one session. */
const shared = {
  depth: z.int(),
  user: z.string().nullable(),
  label: z.string(),
  task: z.string(),
  status: z.enum(WORK_STATUSES),
  result: z.string().nullable(),
  error: errorSchema,
  iterations: z.int(),
  usage: z.object({ input_tokens: z.int(), output_tokens: z.int() }),
  stopped_by: z.string().nullable(),
  links: linksSchema,
  created_at: timeSchema,
  started_at: timeSchema.nullable(),
  ended_at: timeSchema.nullable(),
};

export const subagentSchema = z.object({
  id: idSchema,
  workflow_id: z.string(),
  parent_session: sessionKeySchema,
  parent_turn: idSchema,
  parent_call: idSchema,
  session_key: sessionKeySchema.describe('The session that it works in'),
  agent: nameSchema,
  mode: z.enum(ASSIGNMENT_MODES).describe('sync: its parent’s turn waits for it'),
  announce: z.enum(ANNOUNCE_MODES),
  detached: z.boolean().describe('Goes on when its parent’s session is stopped'),
  replaced_by: z.string().nullable().describe('It was steered: this one went on in its place'),
  ...shared,
});

export const subagentSteerSchema = z
  .strictObject({ message: textSchema(STEER_TEXT).describe('What it is to do instead') })
  .meta({ examples: [{ message: 'Look in the archive as well.' }] });

export const subagentSteerReceiptSchema = z.object({ id: idSchema, replaced_by: idSchema });

const gateCheckSchema = z.object({
  gate: z.string(),
  attempt: z.int().describe('From 0: the work as it was first done'),
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
  session_key: sessionKeySchema.describe('The session that the target works in'),
  mode: z.enum(ASSIGNMENT_MODES),
  warnings: z.array(z.string()).describe('Of gates that let it pass all the same'),
  ...shared,
});

export const delegationDetailSchema = delegationSchema.extend({ checks: z.array(gateCheckSchema) });

export const stopAssignmentSchema = z
  .strictObject({ reason: textSchema(1_000).optional() })
  .meta({ examples: [{ reason: 'no longer needed' }] });

export const workStopReceiptSchema = z.object({ id: idSchema, status: z.enum(WORK_STATUSES) });
