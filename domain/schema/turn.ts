/** Turns and their tool calls on the wire. */
import { z } from 'zod';
import { TURN_STATUSES } from '../turn/turn.ts';
import { hookRunSchema } from '#domain/schema/hook.ts';
import {
  idSchema,
  jsonObjectSchema,
  linksSchema,
  nameSchema,
  sessionKeySchema,
  timeSchema,
} from './scalars.ts';

export const turnSchema = z.object({
  id: idSchema,
  session_key: sessionKeySchema,
  agent: nameSchema,
  agent_revision: z.int().nullable().describe('Its prompt, models and tools; null before it starts'),
  ran_with: z
    .object({
      policy: z.string().optional().describe('SHA-256 of the tenant’s policy; absent without one'),
      tools: z.int().optional().describe('Version of the tenant’s own tools, MCP servers and skills'),
    })
    .nullable()
    .describe('What can change beside the revision, as it was when the turn started'),
  user: z
    .string()
    .nullable()
    .describe('Who said its message: its tools, rules and credentials are this user’s; null for nobody’s'),
  status: z.enum(TURN_STATUSES),
  text: z.string().nullable().describe('The newest answer of the model'),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
  steps: z.int(),
  usage: z.object({
    input_tokens: z.int(),
    output_tokens: z.int(),
    cached_tokens: z.int(),
    cost_usd: z.number().nullable().describe('Null when no price of the model is known'),
    unpriced_calls: z.int(),
  }),
  workflow_id: z.string(),
  links: linksSchema,
  created_at: timeSchema,
  started_at: timeSchema.nullable(),
  ended_at: timeSchema.nullable(),
});

export const toolCallSchema = z.object({
  id: idSchema,
  turn_id: idSchema,
  session_key: sessionKeySchema,
  agent_revision: z.int().nullable().describe('With which its turn runs'),
  step: z.int(),
  index: z.int(),
  tool: z.string(),
  called_as: z.string().describe('The name the model used'),
  args: jsonObjectSchema.describe('Secrets are masked'),
  verdict: z.enum(['allow', 'ask', 'deny']),
  reason: z.string().nullable(),
  hooks: z.array(hookRunSchema).nullable().describe('What hooks decided before, and changed'),
  approval_id: idSchema.nullable(),
  state: z.enum(['requested', 'running', 'done']),
  ok: z.boolean().nullable(),
  code: z.string().nullable(),
  text: z.string().nullable().describe('What the model reads'),
  images: z
    .array(
      z.object({
        type: z.string(),
        width: z.int(),
        height: z.int(),
        size: z.int().describe('Bytes'),
        url: z.string(),
      }),
    )
    .describe('What it gave to models that see'),
  whole: z.boolean().describe('More is kept: GET /v1/tool-calls/{id}/result'),
  changed_files: z
    .array(z.string())
    .nullable()
    .describe(
      'Files of the workspace that were changed by it, or while its command ran, or the folders of many; null when nobody knows, as after a command that was lost or continues',
    ),
  created_at: timeSchema,
  started_at: timeSchema.nullable(),
  ended_at: timeSchema.nullable(),
});
