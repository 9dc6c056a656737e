/** Requests of `/v1/chat/completions`. Fields that choose how a model writes are accepted; the agent has its own. */
import { z } from 'zod';
import { Failure } from '#domain/errors.ts';
import { type ClientTool, clientToolsSchema } from '#domain/schema/client-tool.ts';
import { textSchema } from '#domain/schema/scalars.ts';
import type { ClientMessage, Conversation } from '../conversation.ts';
import { partsOfUser, partsText } from './parts.ts';

const text = textSchema(262_144);
const content = z.union([
  text,
  z.array(z.looseObject({ type: z.string(), text: text.optional() })).max(1_000),
]);

const message = z.looseObject({
  role: z.enum(['system', 'developer', 'user', 'assistant', 'tool']),
  content: content.nullish(),
  tool_call_id: z.string().max(300).optional(),
});

const tool = z.looseObject({
  type: z.literal('function', 'only tools of the type function are passed on; an agent has its own'),
  function: z.looseObject({
    name: z.string(),
    description: z.string().nullish(),
    parameters: z.record(z.string(), z.unknown()).nullish(),
  }),
});

export const chatRequestSchema = z.looseObject({
  model: z.string().min(1).max(64).describe('The key of an agent'),
  messages: z.array(message).min(1).max(5_000),
  tools: z.array(tool).max(128).nullish(),
  tool_choice: z.unknown().optional(),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  user: z.string().nullish(),
  n: z.literal(1, 'must be 1').nullish(),
});

export type ChatRequest = z.output<typeof chatRequestSchema>;

/** Throws Failure for what cannot be passed on. */
export function readChatRequest({ model, messages, tools, tool_choice, user }: ChatRequest): Conversation {
  const system = messages.filter(({ role }) => role === 'system' || role === 'developer');
  return {
    agent: model,
    user: user ?? undefined,
    instructions: system.map(({ content: parts }) => partsText(parts)).join('\n\n'),
    messages: messages.flatMap(messagesOf),
    tools: tool_choice === 'none' ? [] : clientTools((tools ?? []).map((one) => one.function)),
  };
}

function messagesOf({
  role,
  content: parts,
  tool_call_id: call = '',
}: ChatRequest['messages'][number]): ClientMessage[] {
  if (role === 'system' || role === 'developer') return [];
  if (role === 'user') return [{ role, ...partsOfUser(parts) }];
  const text = partsText(parts);
  return [role === 'tool' ? { role, call, text } : { role, text }];
}

interface NamedTool {
  readonly name: string;
  readonly description?: string | null | undefined;
  readonly parameters?: Record<string, unknown> | null | undefined;
}

/** Throws InvalidInput for names and sizes that tools may not have. */
export function clientTools(tools: readonly NamedTool[]): readonly ClientTool[] {
  const read = clientToolsSchema.safeParse(
    tools.map(({ name, description, parameters }) => ({
      name,
      ...(description && { description }),
      ...(parameters && { parameters }),
    })),
  );
  if (read.success) return read.data;
  const errors = read.error.issues.map(({ path, message }) => ({
    pointer: ['body/tools', ...path].join('/'),
    message,
  }));
  const [first] = errors;
  throw new Failure('InvalidInput', `${first?.pointer}: ${first?.message}`, { errors });
}
