/** Subagents on the wire. */
import { z } from 'zod';
import { ANNOUNCE_MODES, STEER_TEXT, SUBAGENT_STATUSES } from '../subagent.ts';
import { idSchema, linksSchema, nameSchema, sessionKeySchema, textSchema, timeSchema } from './scalars.ts';

export const subagentSchema = z.object({
  id: idSchema,
  workflow_id: z.string(),
  parent_session: sessionKeySchema,
  parent_turn: idSchema,
  parent_call: idSchema,
  session_key: sessionKeySchema.meta({ description: 'The session that it works in' }),
  depth: z.int(),
  agent: nameSchema,
  user: z.string().nullable(),
  label: z.string(),
  task: z.string(),
  mode: z.enum(['async', 'sync']).meta({ description: 'sync: its parent’s turn waits for it' }),
  announce: z.enum(ANNOUNCE_MODES),
  detached: z.boolean().meta({ description: 'Goes on when its parent’s session is stopped' }),
  status: z.enum(SUBAGENT_STATUSES),
  result: z.string().nullable(),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
  iterations: z.int(),
  usage: z.object({ input_tokens: z.int(), output_tokens: z.int() }),
  stopped_by: z.string().nullable(),
  replaced_by: z.string().nullable().meta({ description: 'It was steered: this one went on in its place' }),
  links: linksSchema,
  created_at: timeSchema,
  started_at: timeSchema.nullable(),
  ended_at: timeSchema.nullable(),
});

export const subagentStopSchema = z
  .strictObject({ reason: textSchema(1_000).optional() })
  .meta({ examples: [{ reason: 'no longer needed' }] });

export const subagentSteerSchema = z
  .strictObject({ message: textSchema(STEER_TEXT).meta({ description: 'What it is to do instead' }) })
  .meta({ examples: [{ message: 'Look in the archive as well.' }] });

export const subagentStopReceiptSchema = z.object({ id: idSchema, status: z.enum(SUBAGENT_STATUSES) });

export const subagentSteerReceiptSchema = z.object({ id: idSchema, replaced_by: idSchema });
