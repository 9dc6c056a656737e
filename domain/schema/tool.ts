/** Tools on the wire, and calls outside of a conversation. */
import { z } from 'zod';
import { TURN_STATUSES } from '../turn/turn.ts';
import { idSchema, jsonObjectSchema, labelSchema, nameSchema, sessionKeySchema } from './scalars.ts';

export const toolSchema = z.object({
  name: z.string(),
  description: z.string(),
  group: z.string(),
  replay: z.enum(['readonly', 'idempotent', 'verify', 'once']).describe('What a second run would do'),
  parameters: jsonObjectSchema.describe('JSON Schema (draft 2020-12) of the arguments'),
  aliases: z.array(z.string()),
});

/** Values of an agent's `tool_names`. */
export const dialectSchema = z.enum(['canonical', 'goclaw', 'clawft']);

export const toolInvokeSchema = z
  .strictObject({
    args: jsonObjectSchema.default({}),
    session_key: sessionKeySchema.optional().describe('A session of its own unless given'),
    agent: nameSchema.optional().describe('Whose policy and workspace apply: `main`'),
    user: labelSchema.optional(),
  })
  .meta({ examples: [{ args: { path: 'README.md' } }] });

/** The status is 200 when the call has ended, and 202 when it waits for an approval or still runs. */
export const toolInvocationSchema = z.object({
  session_key: sessionKeySchema,
  turn_id: idSchema,
  call_id: idSchema.nullable(),
  status: z.enum(TURN_STATUSES),
  ok: z.boolean().nullable(),
  code: z.string().nullable(),
  text: z.string().nullable(),
  approval_id: idSchema.nullable(),
});

/** GoClaw's body. */
export const seedInvokeSchema = z
  .strictObject({
    tool: z.string().min(1).max(128),
    action: z.string().max(64).optional().describe('Short for `args.action`; an empty one is none'),
    args: jsonObjectSchema.default({}),
    dryRun: z.boolean().default(false),
    agentId: nameSchema.optional().describe('The agent’s key: `main`'),
    channel: labelSchema.optional(),
    chatId: labelSchema.optional(),
    peerKind: z.literal('direct').optional().describe('Groups are told by `channel` and `chatId`'),
  })
  .meta({ examples: [{ tool: 'read_file', args: { path: 'README.md' } }] });

/** The call's result under both names; for a dry run the decision. */
export const seedInvocationSchema = toolInvocationSchema.partial().extend({
  result: z.object({ output: z.string().nullable() }).optional(),
  dry_run: z.literal(true).optional(),
  decision: z.string().optional(),
  reason: z.string().optional(),
});
