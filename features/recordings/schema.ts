/** DU-6. A recording of a session: what its models, tools and people have answered, so that it can be replayed. */
import { z } from 'zod';
import { APPROVAL_STATUSES } from '#domain/approval/approval.ts';
import { TOOL_ERROR_CODES } from '#domain/errors.ts';
import { isNestedDeeper } from '#domain/nesting.ts';
import { agentConfigSchema, agentPatchSchema } from '#domain/schema/agent.ts';
import { clientToolsSchema } from '#domain/schema/client-tool.ts';
import { tenantPolicySchema } from '#domain/schema/policy.ts';
import {
  jsonObjectSchema,
  type Kept,
  labelSchema,
  nameSchema,
  sessionKeySchema,
} from '#domain/schema/scalars.ts';

/** Bytes of a request with a recording. */
export const MAX_RECORDING_BYTES = 16 * 1024 * 1024;
export const RECORDING_LIMITS = { turns: 200, calls: 5_000 } as const;
/** More calls in one answer than are ever recorded. */
const MAX_CALLS = 65;
const MAX_STEPS = 500;
const MAX_DEPTH = 64;

const text = z.string().max(4_000_000);
const code = z.string().max(64);
const digest = z.string().max(64);
const names = z.array(z.string().max(200)).max(1_000);

/** Objects that are not nested so deep that code which walks them fails. */
const jsonSchema = jsonObjectSchema.refine(
  (value) => !isNestedDeeper(JSON.stringify(value), MAX_DEPTH),
  `must not nest deeper than ${MAX_DEPTH}`,
);

/** What a model was asked at a step, by digests; `parts` of the recording has the texts. */
export const promptSchema = z.strictObject({
  system: digest,
  tools: digest,
  /** Of all messages. */
  messages: digest,
  since: z
    .array(z.strictObject({ role: z.enum(['user', 'assistant', 'tool']), digest }))
    .max(1_000)
    .describe('The messages since the model’s last answer, and that answer'),
});

export const recordedCallSchema = z.strictObject({
  tool: z.string().max(128),
  called_as: z.string().max(128),
  args: jsonSchema,
  verdict: z.enum(['allow', 'ask', 'deny']),
  hooked: z.literal(true).optional().describe('Hooks have decided about it or changed it'),
  approval: z
    .strictObject({ status: z.enum(APPROVAL_STATUSES), by: z.string().max(200).nullable() })
    .optional(),
  edited: jsonSchema.optional().describe('The arguments that a person has put in their place'),
  ok: z.boolean(),
  code: z.enum(TOOL_ERROR_CODES).nullable(),
  result: text.describe('What the model has read'),
});

const recordedStepSchema = z.strictObject({
  text,
  finish: z.enum(['stop', 'calls', 'length', 'filtered']),
  model: z.string().max(300).nullable(),
  usage: jsonSchema.nullable(),
  at: z.string().max(40).nullable(),
  calls: z.array(recordedCallSchema).max(MAX_CALLS),
  prompt: promptSchema.optional(),
});

const recordedTurnSchema = z.strictObject({
  message: text,
  status: z.enum(['completed', 'failed', 'stopped']),
  text: text.nullable().describe('The final answer'),
  error: z.strictObject({ code, message: text }).nullable(),
  steps: z.array(recordedStepSchema).max(MAX_STEPS),
  id: z.string().max(200).optional().describe('Of the turn, where it was recorded'),
  used: z
    .strictObject({
      tokens: z.int().min(0),
      usd: z.number().min(0).nullable().describe('Null when the price of a model was not known'),
    })
    .optional()
    .describe('What its models have used'),
});

/** What the rules read of whoever speaks. */
const contextSchema = z.strictObject({
  user: labelSchema.optional(),
  channel: labelSchema.optional(),
  chat_id: labelSchema.optional(),
  allowed_tools: names.optional(),
  client_tools: clientToolsSchema.optional(),
  roles: names.optional(),
  group: names.optional(),
  within: names.optional(),
});
export const CONTEXT_FIELDS = Object.keys(contextSchema.shape);

export const recordingSchema = z.strictObject({
  recording: z.literal(1, { error: 'must be 1, the version that this TempoClaw reads' }),
  agent: nameSchema,
  session: sessionKeySchema,
  revision: z.int().nullable().describe('Of the agent'),
  context: contextSchema,
  summary: text.nullable(),
  turns: z.array(recordedTurnSchema).min(1).max(RECORDING_LIMITS.turns),
  parts: z
    .record(z.string().max(80), z.unknown())
    .default({})
    .describe('System prompts and tools, by digest'),
});

/** An answer of a tool in a test. */
const scriptedAnswerSchema = z.strictObject({
  args: jsonSchema.optional().describe('Only for a call with exactly these arguments'),
  times: z.int().min(1).max(10_000).nullable().default(1).describe('How often it is given; null for always'),
  code: z.enum(TOOL_ERROR_CODES).optional().describe('The call fails so'),
  text,
});

export const scriptSchema = z.strictObject({
  agent: nameSchema,
  user: labelSchema.optional(),
  model: z.string().min(1).max(300).optional().describe('In place of the agent’s'),
  tools: z.record(z.string().max(128), z.array(scriptedAnswerSchema).max(1_000)).default({}),
  approvals: z
    .record(z.string().max(128), z.enum(['approve', 'deny']))
    .default({})
    .describe('How people decide about calls of a tool; `*` for all others'),
});

/** Fields of an agent that decide something in a replay; the others have no effect there. */
export const WHAT_IF_FIELDS = [
  'name',
  'model',
  'thinking',
  'instructions',
  'tools',
  'tool_names',
  'exec',
  'limits',
] as const satisfies readonly (keyof z.infer<typeof agentConfigSchema>)[];

export const whatIfSchema = z
  .strictObject({
    agent: agentPatchSchema
      .optional()
      .describe(`What differs from the agent; of its fields, ${WHAT_IF_FIELDS.join(', ')}`),
    policy: tenantPolicySchema.optional().describe('In place of the tenant’s policy'),
    models: z
      .enum(['called', 'recorded'])
      .describe('Whether models answer themselves, or as they did in the recording'),
  })
  .refine(({ agent, policy, models }) => models === 'called' || agent !== undefined || policy !== undefined, {
    path: ['agent'],
    message: 'give a change of the agent, a policy, or both: recorded models do the same again without one',
  });

export const differenceSchema = z.object({
  turn: z.int(),
  step: z.int(),
  part: z.enum(['system', 'tools', 'messages', 'call', 'policy', 'answer', 'end']),
  message: z.string(),
});

export type Recording = Kept<typeof recordingSchema>;
export type RecordedTurn = Recording['turns'][number];
export type RecordedStep = RecordedTurn['steps'][number];
export type RecordedCall = Kept<typeof recordedCallSchema>;
export type PromptDigest = Kept<typeof promptSchema>;
export type Script = Kept<typeof scriptSchema>;
export type ScriptedAnswer = Kept<typeof scriptedAnswerSchema>;
export type Difference = Kept<typeof differenceSchema>;
export const REPLAY_MODES = ['compare', 'record', 'live', 'script', 'what-if'] as const;
export type WhatIf = Kept<typeof whatIfSchema>;
export type ReplayMode = (typeof REPLAY_MODES)[number];
