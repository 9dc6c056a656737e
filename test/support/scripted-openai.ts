/**
 * A model server with OpenAI's chat protocol that answers by rehearsal scripts of a folder; the model's name is the
 * script's.
 */
import { createRehearsal } from '#activities/model/rehearsal.ts';
import { createScriptStore } from '#activities/model/rehearsal-script.ts';
import type { ChatMessage } from '#domain/turn/message.ts';
import { startServer, type TestServer } from '#test/activities/model/provider-server.ts';

interface WireCall {
  readonly id: string;
  readonly function: { readonly name: string; readonly arguments: string };
}

interface WireMessage {
  readonly role: 'system' | 'developer' | 'user' | 'assistant' | 'tool';
  readonly content: string | readonly { readonly text?: string }[] | null;
  readonly tool_calls?: readonly WireCall[];
  readonly tool_call_id?: string;
}

export function startScriptedOpenAi(folder: string): Promise<TestServer> {
  const rehearsal = createRehearsal(createScriptStore([folder]));
  return startServer(async ({ body }, response) => {
    const messages = body['messages'] as readonly WireMessage[];
    const answer = await rehearsal.generate({
      model: String(body['model']),
      system: messages
        .filter(({ role }) => isSystem(role))
        .map(textOf)
        .join('\n\n'),
      messages: messages.filter(({ role }) => !isSystem(role)).map((message) => toOurs(message, messages)),
      tools: [],
      idempotencyKey: '',
      signal: new AbortController().signal,
      onDelta: () => undefined,
    });
    const tool_calls = answer.calls.map(({ name, args }, index) => ({
      index,
      id: `call_${messages.length}_${index}`,
      type: 'function',
      function: { name, arguments: JSON.stringify(args) },
    }));
    const chunk = (delta: object, end: string | null): string =>
      `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: end }] })}\n\n`;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const text = tool_calls.length > 0 ? { tool_calls } : {};
    response.write(chunk({ role: 'assistant', content: answer.text, ...text }, null));
    response.end(`${chunk({}, tool_calls.length > 0 ? 'tool_calls' : 'stop')}data: [DONE]\n\n`);
  });
}

function isSystem(role: WireMessage['role']): boolean {
  return role === 'system' || role === 'developer';
}

function textOf({ content }: WireMessage): string {
  return typeof content === 'string' ? content : (content ?? []).map(({ text }) => text ?? '').join('');
}

function toOurs(message: WireMessage, all: readonly WireMessage[]): ChatMessage {
  const { role, tool_calls = [], tool_call_id: callId = '' } = message;
  const text = textOf(message);
  if (role === 'assistant') {
    const calls = tool_calls.map(({ id, function: { name, arguments: args } }) => ({
      id,
      name,
      args: JSON.parse(args) as Record<string, unknown>,
    }));
    return { role, text, calls };
  }
  if (role !== 'tool') return { role: 'user', text };
  const call = all.flatMap((one) => one.tool_calls ?? []).find(({ id }) => id === callId);
  return { role, results: [{ callId, name: call?.function.name ?? '', ok: true, text }] };
}
