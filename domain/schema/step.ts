/** Steps of a turn on the wire, how two turns differ, and the sessions below a session. */
import { z } from 'zod';
import { messageSchema } from './message.ts';
import { idSchema, nameSchema, sessionKeySchema, timeSchema } from './scalars.ts';
import { toolCallSchema, turnSchema } from './turn.ts';

/** The kinds of work below a session. `gate` and `round` are sessions of judges and of makers. */
export const WORK_KINDS = ['subagent', 'delegation', 'evaluation', 'gate', 'round', 'task'] as const;

const times = {
  created_at: timeSchema,
  started_at: timeSchema.nullable(),
  ended_at: timeSchema.nullable(),
};

const workSchema = z.object({
  kind: z.enum(WORK_KINDS),
  id: z.string(),
  label: z.string(),
  agent: nameSchema.nullable(),
  status: z.string(),
  session_key: sessionKeySchema.nullable().describe('The session that works on it; null before there is one'),
  turn_id: idSchema.nullable().describe('The first turn of that session'),
  ...times,
});

const stepCallSchema = z.object({
  id: idSchema,
  index: z.int(),
  tool: z.string(),
  summary: z.string(),
  verdict: z.enum(['allow', 'ask', 'deny']),
  state: z.enum(['requested', 'running', 'done']),
  ok: z.boolean().nullable(),
  code: z.string().nullable(),
  attempts: z.int().describe('Attempts that claimed it; 0 for a call that only reads'),
  approval: z
    .object({
      id: z.string(),
      status: z.string(),
      decided_by: z.string().nullable(),
      created_at: timeSchema,
      decided_at: timeSchema.nullable(),
    })
    .nullable(),
  work: z.array(workSchema).describe('What it gave to other sessions'),
  ...times,
});

export const stepSchema = z.object({
  step: z.int(),
  model: z.string().nullable().describe('`none` when calls came from a person'),
  attempt: z.int().nullable().describe('Which attempt of the model call answered'),
  text: z.string().describe('The beginning of the answer'),
  finish: z.string().nullable(),
  input_tokens: z.int(),
  output_tokens: z.int(),
  cached_tokens: z.int(),
  cost_usd: z.number().nullable().describe('Null when the price is unknown'),
  started_at: timeSchema.describe('When the step before had ended'),
  ended_at: timeSchema.describe('When the model had answered; the calls come after that'),
  calls: z.array(stepCallSchema),
});

export const stepDetailSchema = stepSchema.extend({
  text: z.string(),
  after_position: z
    .int()
    .describe('The model read the transcript up to this position, or its summary, and then the following'),
  messages: z.array(messageSchema).describe('New messages that it read'),
  results: z.array(toolCallSchema).describe('Calls of the step before, whose results it read'),
  tool_calls: z.array(toolCallSchema).describe('What the answer asked for'),
});

export const DIFFERENCES = ['model', 'text', 'tools', 'arguments', 'results', 'end'] as const;

export const comparisonSchema = z.object({
  turn: turnSchema,
  other: turnSchema,
  first: z
    .object({ step: z.int(), differs: z.array(z.enum(DIFFERENCES)) })
    .nullable()
    .describe('The first step that differs; `end`: one turn has no such step. Null when none differs'),
});

const nodeSchema = workSchema.extend({
  parent: sessionKeySchema.describe('The session that gave it'),
  depth: z.int(),
  steps: z.int(),
  tokens: z.int().describe('Of all turns of its session'),
  cost_usd: z.number().nullable(),
});

export const sessionTreeSchema = z.object({
  data: z.array(nodeSchema).describe('Each below its parent, oldest first'),
  truncated: z.boolean().describe('There is more than this'),
});
