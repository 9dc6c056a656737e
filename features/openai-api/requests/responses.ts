/** Requests of `/v1/responses`. Fields that choose how a model writes are accepted; the agent has its own. */
import { z } from 'zod';
import { sessionKeySchema, textSchema } from '#domain/schema/scalars.ts';
import type { ClientMessage, Conversation } from '../conversation.ts';
import { clientTools } from './chat.ts';
import { partsOfUser, partsText } from './parts.ts';

const text = textSchema(262_144);
const parts = z.union([text, z.array(z.looseObject({ type: z.string(), text: text.optional() })).max(1_000)]);
const id = z.string().max(300);

const message = z.looseObject({
  type: z.literal('message').optional(),
  role: z.enum(['system', 'developer', 'user', 'assistant']),
  content: parts,
});
const callOutput = z.looseObject({ type: z.literal('function_call_output'), call_id: id, output: parts });
const approvalResponse = z.looseObject({
  type: z.literal('mcp_approval_response'),
  approval_request_id: id,
  approve: z.boolean(),
  reason: textSchema(16_384).nullish(),
});
/** What the model did before, which its session has. */
const earlier = z.looseObject({
  type: z.enum(['function_call', 'reasoning', 'mcp_approval_request', 'item_reference']),
});

const tool = z.looseObject({
  type: z.literal('function', 'only tools of the type function are passed on; an agent has its own'),
  name: z.string(),
  description: z.string().nullish(),
  parameters: z.record(z.string(), z.unknown()).nullish(),
});

export const responsesRequestSchema = z.looseObject({
  model: z.string().min(1).max(64).describe('The key of an agent'),
  input: z.union([
    text,
    z
      .array(z.union([message, callOutput, approvalResponse, earlier]))
      .min(1)
      .max(5_000),
  ]),
  instructions: text.nullish(),
  previous_response_id: id.nullish(),
  conversation: z
    .union([sessionKeySchema, z.looseObject({ id: sessionKeySchema })])
    .nullish()
    .describe('The key of a session'),
  tools: z.array(tool).max(128).nullish(),
  tool_choice: z.unknown().optional(),
  stream: z.boolean().nullish(),
  background: z.boolean().nullish(),
  user: z.string().nullish(),
});

export type ResponsesRequest = z.output<typeof responsesRequestSchema>;

/** Throws Failure for what cannot be passed on. */
export function readResponsesRequest(body: ResponsesRequest): Conversation {
  const { model, input, instructions, tools, tool_choice, user } = body;
  const items = typeof input === 'string' ? [{ role: 'user' as const, content: input }] : input;
  const system = items.flatMap((item) =>
    isMessage(item) && isSystem(item) ? [partsText(item.content)] : [],
  );
  return {
    agent: model,
    user: user ?? undefined,
    instructions: [...(instructions ? [instructions] : []), ...system].join('\n\n'),
    messages: items.flatMap(messagesOf),
    tools: tool_choice === 'none' ? [] : clientTools(tools ?? []),
  };
}

type Item = Exclude<ResponsesRequest['input'], string>[number];
type Message = z.output<typeof message>;

function messagesOf(item: Item): ClientMessage[] {
  if (isMessage(item)) {
    if (isSystem(item)) return [];
    return item.role === 'user'
      ? [{ role: 'user', ...partsOfUser(item.content) }]
      : [{ role: 'assistant', text: partsText(item.content) }];
  }
  if (item.type === 'function_call_output') {
    const { call_id: call, output } = item as z.output<typeof callOutput>;
    return [{ role: 'tool', call, text: partsText(output) }];
  }
  if (item.type === 'mcp_approval_response') {
    const { approval_request_id: approval, approve, reason } = item as z.output<typeof approvalResponse>;
    return [{ role: 'decision', approval, approve, ...(reason && { reason }) }];
  }
  return [{ role: 'assistant', text: '' }];
}

function isMessage(item: Item): item is Message {
  return 'role' in item;
}

function isSystem({ role }: Message): boolean {
  return role === 'system' || role === 'developer';
}
