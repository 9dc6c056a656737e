/** Schemas of tool hosts and their tools. */
import { z } from 'zod';
import { jsonObjectSchema, textSchema, timeSchema } from '#domain/schema/scalars.ts';
import { TOOL_ERROR_CODES } from '#domain/errors.ts';
import { HOOK_EVENTS, HOOK_LIMITS } from '#domain/schema/hook.ts';
import { HOST_LIMITS } from './contract.ts';

export const hostNameSchema = z
  .string()
  .regex(/^[a-z][a-z0-9_-]{0,39}$/, 'must be 1 to 40 of a-z, 0-9, _ and -, a letter first');

const secretNamesSchema = z
  .array(z.string().regex(/^[A-Za-z0-9_.-]{1,128}$/))
  .max(20)
  .default([])
  .describe('Names of secrets that it gets');

const sourceHashSchema = z
  .guid()
  .describe('The first half of the SHA-256 of its source, in the form of a UUID');

export const codeToolSchema = z.strictObject({
  name: z.string().regex(/^[a-z][a-z0-9_]{0,63}$/, 'must be 1 to 64 of a-z, 0-9 and _, a letter first'),
  language: z.literal('python').optional().describe('In what it is written; TypeScript when it is absent'),
  description: textSchema(4_000).describe('For the model: what it does and when to use it'),
  parameters: jsonObjectSchema
    .refine(
      (schema) => JSON.stringify(schema).length <= HOST_LIMITS.parameters,
      `must have at most ${HOST_LIMITS.parameters} characters as JSON`,
    )
    .describe('JSON Schema of its arguments'),
  replay: z.enum(['read', 'idempotent', 'once']).describe('What a second run would do'),
  probes: z.boolean().default(false).describe('It can find out whether a lost run took effect'),
  undone_by: z
    .string()
    .regex(/^[a-z][a-z0-9_]{0,63}$/)
    .optional()
    .describe('The tool that reverses its calls: it gets `call`, `input` and `result`'),
  undoes: z
    .string()
    .regex(/^[a-z][a-z0-9_]{0,63}$/)
    .optional()
    .describe('The tool whose calls it reverses: only an undo calls it'),
  approval: z.boolean().default(false).describe('People decide about each call'),
  outside: z.boolean().default(false).describe('What it returns comes from others'),
  secrets: secretNamesSchema,
  timeout_seconds: z.int().min(1).max(HOST_LIMITS.timeoutSeconds).default(60),
  hash: sourceHashSchema,
});

export type CodeToolDefinition = z.output<typeof codeToolSchema>;

export const codeHookSchema = z.strictObject({
  name: z.string().regex(/^[a-z][a-z0-9_]{0,63}$/, 'must be 1 to 64 of a-z, 0-9 and _, a letter first'),
  event: z.enum(HOOK_EVENTS),
  tools: z.array(z.string().min(1).max(256)).min(1).max(100).optional(),
  agents: z
    .array(z.string().min(1).max(64))
    .max(100)
    .optional()
    .describe('Agents of its folder; all of them when absent'),
  secrets: secretNamesSchema,
  timeout_seconds: z.number().positive().max(HOOK_LIMITS.maxSeconds).optional(),
  hash: sourceHashSchema,
});

export type CodeHookDefinition = z.output<typeof codeHookSchema>;

export const toolHostChangeSchema = z
  .strictObject({
    seal_key: z
      .string()
      .regex(/^[A-Za-z0-9+/]{43}=$/, 'must be 32 bytes as base64')
      .describe('Seals what Temporal carries to it and back'),
    tools: z.array(codeToolSchema).max(HOST_LIMITS.tools),
    hooks: z
      .array(codeHookSchema)
      .max(HOST_LIMITS.hooks)
      .default([])
      .describe('An agent uses one by a hook of type `code`'),
  })
  .refine(
    ({ tools }) => new Set(tools.map(({ name }) => name)).size === tools.length,
    'tools: two have the same name',
  )
  .meta({
    examples: [
      {
        seal_key: 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=',
        tools: [
          {
            name: 'refund',
            description: 'Refunds an order',
            parameters: { type: 'object', properties: { order: { type: 'string' } }, required: ['order'] },
            replay: 'once',
            approval: true,
            hash: 'e3b0c442-98fc-1c14-9afb-f4c8996fb924',
          },
        ],
      },
    ],
  });

export const toolHostSchema = z.object({
  name: hostNameSchema,
  task_queues: z
    .object({ runs: z.string(), probes: z.string(), hooks: z.string() })
    .describe(
      'Where its calls wait for it; runs and hooks have queues for each version of the tools and hooks. Those of tools in Python have the same names and /python',
    ),
  tools: z.array(codeToolSchema.extend({ revision: z.int() })),
  hooks: z.array(codeHookSchema),
  updated_by: z.string(),
  created_at: timeSchema,
  updated_at: timeSchema,
});

export const hostResultSchema = z.union([
  z.object({ ok: z.literal(true), text: z.string().max(HOST_LIMITS.output + 100) }),
  z.object({
    ok: z.literal(false),
    code: z.enum(TOOL_ERROR_CODES),
    message: z.string().max(HOST_LIMITS.message),
  }),
  z.object({ nothing: z.literal(true) }),
]);

export const hostRequestSchema = z.object({
  tool: z.string(),
  input: z.unknown(),
  secrets: z.record(z.string(), z.string()),
  context: z.object({
    idempotencyKey: z.string(),
    agent: z.string(),
    user: z.string().nullable(),
    session: z.string(),
    turn: z.string(),
    call: z.string(),
  }),
});

export const hostHookRequestSchema = z.object({
  hook: z.string(),
  event: z.record(z.string(), z.unknown()),
  secrets: z.record(z.string(), z.string()),
  seconds: z.number(),
});
