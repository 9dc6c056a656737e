/** A provider of three protocols that behaves as a test says: it stays silent, breaks off, or refuses. */
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { createModels, type Models } from '#activities/model/model-catalog.ts';
import { ModelError } from '#domain/model/model.ts';
import { ask } from './ask.ts';
import { type SeenRequest, startServer, type TestServer } from './provider-server.ts';

/** Events of the three protocols, each a stream that has started to say `Half`. */
export const ANTHROPIC = [
  {
    type: 'message_start',
    message: {
      id: 'm',
      type: 'message',
      role: 'assistant',
      model: 'x',
      content: [],
      usage: {
        input_tokens: 10,
        output_tokens: 1,
        cache_read_input_tokens: 70,
        cache_creation_input_tokens: 20,
      },
    },
  },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Half' } },
];
export const RESPONSES = [
  { type: 'response.created', response: { id: 'r', created_at: 1, model: 'x' } },
  {
    type: 'response.output_item.added',
    output_index: 0,
    item: { type: 'message', id: 'm', status: 'in_progress', role: 'assistant', content: [] },
  },
  { type: 'response.output_text.delta', item_id: 'm', output_index: 0, content_index: 0, delta: 'Half' },
];
export const CHAT = [
  {
    id: 'c',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'x',
    choices: [{ index: 0, delta: { content: 'Half' } }],
  },
];
const GEMINI = [{ candidates: [{ content: { role: 'model', parts: [{ text: 'Half' }] }, index: 0 }] }];

export function begunOf(path: string): readonly object[] {
  if (path.includes('/messages')) return ANTHROPIC;
  if (path.includes('/responses')) return RESPONSES;
  return path.includes('/chat/') ? CHAT : GEMINI;
}

export function send(response: ServerResponse, events: readonly object[]): void {
  if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of events) {
    const type = 'type' in event ? `event: ${String(event.type)}\n` : '';
    response.write(`${type}data: ${JSON.stringify(event)}\n\n`);
  }
}

export type Fault = (request: SeenRequest, response: ServerResponse) => void;

export interface FaultyProvider extends TestServer {
  /** How it answers from now on. */
  fault: Fault;
  /** These have enough time for a busy machine; the others have a short limit of one kind each. */
  readonly models: Models;
  readonly wantsAnswer: Models;
  readonly wantsMore: Models;
  /** The ModelError of calling `ref` of `models` while the server behaves as `how`. */
  failureOf(ref: string, how: Fault, models?: Models): Promise<ModelError>;
}

export async function startFaultyProvider(): Promise<FaultyProvider> {
  const server = await startServer((request, response) => provider.fault(request, response));
  const baseUrl = server.url;
  const modelsOf = (firstByteTimeoutSeconds: number, idleTimeoutSeconds: number): Models =>
    createModels({
      firstByteTimeoutSeconds,
      idleTimeoutSeconds,
      providers: {
        anthropic: { apiKey: 'planted-key-1', baseUrl },
        openai: { apiKey: 'planted-key-1', baseUrl, api: 'responses' },
        chat: { type: 'openai', apiKey: 'planted-key-1', baseUrl },
        google: { apiKey: 'planted-key-1', baseUrl },
        local: { baseUrl },
        closed: { baseUrl: 'http://127.0.0.1:1' },
      },
    });
  const models = modelsOf(60, 60);
  const provider: FaultyProvider = {
    ...server,
    fault: () => undefined,
    models,
    wantsAnswer: modelsOf(0.3, 60),
    wantsMore: modelsOf(60, 0.2),
    async failureOf(ref, how, request = models) {
      provider.fault = how;
      try {
        await ask(request, ref, 'anything');
      } catch (error) {
        assert.ok(error instanceof ModelError, String(error));
        return error;
      }
      return assert.fail('it answered');
    },
  };
  return provider;
}
