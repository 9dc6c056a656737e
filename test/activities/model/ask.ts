/** Calls a provider in tests: a small request, its answer and the deltas before it. */
import type { ChatMessage } from '#domain/turn/message.ts';
import type { ModelAnswer, ModelProvider, ModelRequest, OfferedTool } from '#domain/model/model.ts';
import type { Models } from '#activities/model/model-catalog.ts';

export const READ_FILE: OfferedTool = {
  name: 'read_file',
  description: 'Reads a file.',
  parameters: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: { path: { type: 'string' } },
    required: ['path'],
    additionalProperties: false,
  },
};

export const DATETIME: OfferedTool = {
  name: 'datetime',
  description: 'Tells the time.',
  parameters: { type: 'object' },
};

export function say(text: string): ChatMessage {
  return { role: 'user', text };
}

/** A request of one user message, in which `overrides` replaces fields. */
export function requestOf(
  messages: readonly ChatMessage[],
  overrides: Partial<ModelRequest> = {},
): ModelRequest {
  return {
    model: 'some-model',
    system: 'You are brief.',
    messages,
    tools: [READ_FILE, DATETIME],
    idempotencyKey: 'turn_1.0',
    signal: new AbortController().signal,
    onDelta: () => undefined,
    ...overrides,
  };
}

export interface Asked {
  readonly answer: ModelAnswer;
  readonly deltas: readonly string[];
}

/** Calls `ref` and keeps the deltas. */
export async function ask(
  models: Pick<Models, 'resolve'>,
  ref: string,
  messages: readonly ChatMessage[] | string,
  overrides: Partial<ModelRequest> = {},
): Promise<Asked> {
  const { provider, model } = models.resolve(ref);
  return askProvider(provider, model, typeof messages === 'string' ? [say(messages)] : messages, overrides);
}

async function askProvider(
  provider: ModelProvider,
  model: string,
  messages: readonly ChatMessage[],
  ended: Partial<ModelRequest>,
): Promise<Asked> {
  const deltas: string[] = [];
  const onDelta = (text: string) => deltas.push(text);
  const answer = await provider.generate(requestOf(messages, { model, onDelta, ...ended }));
  return { answer, deltas };
}
