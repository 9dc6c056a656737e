/**
 * The model's script. A user's message of the form `pay ID times=N tool=NAME` asks for N payments, one a step, and an
 * answer at the end. The script depends on nothing but the conversation, in OpenAI's chat format.
 */
import type { ServerResponse } from 'node:http';
import { z } from 'zod';

/** What the model read about its last call: that it happened, that this is unknown, or neither. */
export type Reported = 'paid' | 'unknown' | 'other' | 'nothing';

export interface Reply {
  readonly turn: string;
  /** The tool call; without one, the text ends the turn. */
  readonly call?: { readonly id: string; readonly tool: string; readonly payment: string } | undefined;
  readonly text: string;
  readonly reported: Reported | undefined;
  /** What the model read about its last call. */
  readonly words: string;
  readonly isStream: boolean;
}

const part = z.object({ text: z.string().optional() });
const message = z.object({
  role: z.string(),
  content: z.union([z.string(), z.array(part)]).nullish(),
});
const request = z.object({
  messages: z.array(message).max(10_000),
  stream: z.boolean().default(false),
});

/** Words by which a result says that nobody knows whether the call took effect. */
const UNKNOWN = /unknown|may (?:or may not )?have|might have|cannot be known|not known/i;
const WORDS_SHOWN = 400;

/** The text of a turn's message. */
export function messageOf(turn: string, times: number, tool = 'pay'): string {
  return `pay ${turn} times=${times} tool=${tool}`;
}

/** Throws when no message asks for payments. */
export function replyTo(body: unknown): Reply {
  const { messages, stream } = request.parse(body);
  const order = messages
    .filter(({ role }) => role === 'user')
    .map(textOf)
    .map((text) => /pay ([\w-]+) times=(\d+) tool=(\w+)/.exec(text))
    .findLast((found) => found !== null);
  if (!order) throw new Error('No message of the user has the form `pay ID times=N tool=NAME`.');
  const [, turn = '', times = '0', tool = ''] = order;
  const results = messages.filter(({ role }) => role === 'tool');
  const last = results.at(-1);
  const words = last ? textOf(last).slice(0, WORDS_SHOWN) : '';
  const payment = `${turn}-${results.length}`;
  const isDone = results.length >= Number(times);
  return {
    turn,
    call: isDone ? undefined : { id: `call_${payment}`, tool, payment },
    text: isDone ? `${turn}: ${words}` : '',
    reported: last ? reportedBy(words, `${turn}-${results.length - 1}`) : undefined,
    words,
    isStream: stream,
  };
}

/** What a tool's result says about the payment. */
export function reportedBy(words: string, payment: string): Reported {
  if (words.includes(`paid ${payment}`)) return 'paid';
  return UNKNOWN.test(words) ? 'unknown' : 'other';
}

function textOf({ content }: z.infer<typeof message>): string {
  return typeof content === 'string' ? content : (content ?? []).map(({ text }) => text ?? '').join('');
}

const USAGE = { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 };

/** Resolves when the kernel has the response, or its reader is gone. */
export async function sendReply(response: ServerResponse, reply: Reply): Promise<void> {
  if (response.destroyed) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  response.once('close', resolve);
  const body = reply.isStream ? streamOf(reply) : JSON.stringify(completionOf(reply));
  response.writeHead(200, { 'content-type': reply.isStream ? 'text/event-stream' : 'application/json' });
  response.end(body, resolve);
  await promise;
}

function deltaOf({ call, text }: Reply): { role: 'assistant'; content: string; tool_calls?: object[] } {
  if (!call) return { role: 'assistant', content: text };
  const wire = { name: call.tool, arguments: JSON.stringify({ id: call.payment }) };
  return {
    role: 'assistant',
    content: '',
    tool_calls: [{ index: 0, id: call.id, type: 'function', function: wire }],
  };
}

function completionOf(reply: Reply): object {
  const finish = reply.call ? 'tool_calls' : 'stop';
  const choice = { index: 0, message: deltaOf(reply), finish_reason: finish };
  return {
    id: 'league',
    object: 'chat.completion',
    created: 1,
    model: 'script',
    choices: [choice],
    usage: USAGE,
  };
}

function streamOf(reply: Reply): string {
  const chunk = (delta: object, finish: string | null): string => {
    const base = { id: 'league', object: 'chat.completion.chunk', created: 1, model: 'script' };
    return `data: ${JSON.stringify({ ...base, choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
  };
  const usage = {
    id: 'league',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'script',
    choices: [],
    usage: USAGE,
  };
  return [
    chunk(deltaOf(reply), null),
    chunk({}, reply.call ? 'tool_calls' : 'stop'),
    `data: ${JSON.stringify(usage)}\n\n`,
    'data: [DONE]\n\n',
  ].join('');
}
