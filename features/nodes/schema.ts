/** Nodes and their invocations, as requests, answers and the messages of a node's connection contain them. */
import { z } from 'zod';
import { TOOL_ERROR_CODES } from '#domain/errors.ts';
import { CAPABILITY, NODE_LIMITS } from './contract/node.ts';
import {
  idSchema,
  jsonObjectSchema,
  type Kept,
  nameSchema,
  textSchema,
  timeSchema,
} from '#domain/schema/scalars.ts';

/** Names that have another meaning in the addresses. */
const OTHER = new Set(['invites', 'join', 'connect', 'hello']);

export const nodeNameSchema = nameSchema.refine((name) => !OTHER.has(name), 'is no name for a node');

const capabilityName = z.string().regex(CAPABILITY, 'must be words with dots between them, as system.info');

export const nodeInviteSchema = z
  .strictObject({
    name: nodeNameSchema,
    capabilities: z
      .array(capabilityName)
      .min(1)
      .max(32)
      .optional()
      .meta({ description: 'All that it may be asked; whatever it declares when this is left out' }),
  })
  .meta({ examples: [{ name: 'laptop', capabilities: ['system.info', 'file.read'] }] });

export const nodeInvitedSchema = z.object({
  name: z.string(),
  code: z.string().nullable().meta({ description: 'Works once; shown this once' }),
  expires_at: timeSchema,
  url: z.string().meta({ description: 'Where the node reaches this server' }),
});

export const nodeJoinSchema = z
  .strictObject({
    code: z.string().max(64),
    token: z
      .string()
      .regex(/^tcn_[0-9A-Za-z]{43}$/)
      .meta({ description: 'The node’s own secret from now on, made by it of 256 bits of chance' }),
  })
  .meta({ examples: [{ code: 'ABC234-DEFGHJKLMN', token: `tcn_${'0'.repeat(43)}` }] });

export const nodeJoinedSchema = z.object({ name: z.string() });

const capabilitySchema = z.object({ name: capabilityName, description: textSchema(2_000) });

export const nodeSchema = z.object({
  name: z.string(),
  state: z.enum(['invited', 'connected', 'away']),
  allowed: z.array(z.string()).nullable(),
  capabilities: z.array(capabilitySchema).meta({ description: 'What it may be asked' }),
  platform: z.string().nullable(),
  version: z.string().nullable(),
  seen_at: timeSchema.nullable(),
  created_by: z.string(),
  created_at: timeSchema,
});

export const nodeInvocationSchema = z.object({
  id: z.string().meta({ description: 'Of the tool call' }),
  session_key: z.string(),
  capability: z.string(),
  status: z.enum(['waiting', 'sent', 'done', 'unsent', 'unknown']),
  created_at: timeSchema,
  sent_at: timeSchema.nullable(),
  ended_at: timeSchema.nullable(),
});

export const nodeResultSchema = z.object({
  ok: z.boolean(),
  code: z.enum(TOOL_ERROR_CODES).optional(),
  text: z.string().max(NODE_LIMITS.output),
});

/** The result of an invocation, as the node reports it. */
export type NodeResult = Kept<typeof nodeResultSchema>;

const aboutShape = {
  platform: textSchema(100),
  version: textSchema(50),
  journal: z.uuid(),
  capabilities: z.array(capabilitySchema).max(32),
};

/** What a node that takes its work from a task queue sends again and again while it is there. */
export const nodeHelloSchema = z.strictObject({
  ...aboutShape,
  /** Id of the running program. */
  run: z.uuid(),
});

/** Where it takes its work from. */
export const nodeGreetedSchema = z.object({ task_queue: z.string().min(1).max(1_000) });

/** What a node sends, `hello` first. */
export const fromNodeSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('hello'), ...aboutShape }),
  z.object({ type: z.literal('result'), id: idSchema, result: nodeResultSchema }),
]);

/** What a node receives. */
export const toNodeSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('invoke'),
    id: idSchema,
    capability: z.string(),
    params: jsonObjectSchema,
    /** The time that is left for it. */
    milliseconds: z.number(),
  }),
  z.object({ type: z.literal('cancel'), id: idSchema }),
]);
export type ToNode = z.infer<typeof toNodeSchema>;
