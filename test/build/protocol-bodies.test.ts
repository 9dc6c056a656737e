/** IN-3, IN-11: what a protocol's client sends wrong is refused in words, and is never an error of ours. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { type Stack, startStack } from '#test/support/stack.ts';

const BODIES = 300;
const TOOL = { name: 'look', description: 'Looks', parameters: { type: 'object', properties: {} } };
const A2A_MESSAGE = {
  message: {
    messageId: 'protocol',
    contextId: 'protocol',
    role: 'ROLE_USER',
    parts: [{ text: 'Hello.' }, { data: { approval: 'apr_none', approve: true } }],
    extensions: [],
  },
  configuration: { historyLength: 1, returnImmediately: true, acceptedOutputModes: ['text/plain'] },
};
/** What is accepted, in parts that a client may get wrong. No text of it may start a turn that goes on. */
const DOORS: Readonly<Record<string, object>> = {
  '/v1/chat/completions': {
    model: 'main',
    messages: [
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: [{ type: 'text', text: 'Hello.' }] },
      { role: 'tool', tool_call_id: 'apr_none', content: 'x' },
    ],
    tools: [{ type: 'function', function: TOOL }],
    stream: false,
    user: 'ann',
  },
  '/v1/responses': {
    model: 'main',
    input: [
      { role: 'user', content: [{ type: 'input_text', text: 'Hello.' }] },
      { type: 'function_call_output', call_id: 'apr_none', output: 'x' },
      { type: 'mcp_approval_response', approval_request_id: 'apr_none', approve: true },
    ],
    tools: [{ type: 'function', ...TOOL }],
    previous_response_id: 'resp_turn_none.1',
    conversation: { id: 'protocol' },
  },
  '/v1/ui/main': {
    id: 'protocol',
    messages: [
      { role: 'user', parts: [{ type: 'text', text: 'Hello.' }] },
      {
        role: 'assistant',
        parts: [
          { type: 'dynamic-tool', toolCallId: 'apr_none', state: 'output-available', output: {} },
          { type: 'dynamic-tool', state: 'approval-responded', approval: { id: 'apr_none', approved: true } },
        ],
      },
    ],
    tools: [TOOL],
  },
  '/v1/ag-ui/main': {
    threadId: 'protocol',
    runId: 'run',
    parentRunId: 'parent',
    state: { cart: [] },
    messages: [
      { id: 'm1', role: 'system', content: 'Be kind.' },
      { id: 'm2', role: 'user', content: [{ type: 'text', text: 'Hello.' }] },
      { id: 'm3', role: 'tool', toolCallId: 'apr_none', content: 'x' },
    ],
    tools: [TOOL],
    context: [{ description: 'page', value: 'start' }],
    resume: [{ interruptId: 'apr_none', status: 'resolved', payload: { approved: true, editedArgs: {} } }],
  },
  '/v1/langgraph/threads/protocol/runs/wait': {
    assistant_id: 'main',
    input: { messages: [{ id: 'm1', role: 'user', content: [{ type: 'text', text: 'Hello.' }] }] },
    stream_mode: ['values'],
    multitask_strategy: 'enqueue',
  },
  '/v1/langgraph/threads/protocol-2/runs/stream': {
    assistant_id: 'main',
    command: { resume: { decisions: [{ type: 'edit', edited_action: { name: 'poke', args: {} } }] } },
  },
  '/v1/a2a/main': { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: A2A_MESSAGE },
  '/v1/a2a/main/message:send': A2A_MESSAGE,
};

describe('IN-3 IN-11 bodies of protocols', () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack();
  });
  after(() => stack.stop());

  for (const [path, body] of Object.entries(DOORS))
    it(`${path} refuses ${BODIES} wrong ones without an error of ours`, async () => {
      const wrong = fc.oneof(
        fc.json(),
        fc
          .tuple(fc.constantFrom(...placesIn(body)), fc.anything({ maxDepth: 2 }))
          .map(([place, value]) => JSON.stringify(replaced(body, place, value))),
      );
      await fc.assert(
        fc.asyncProperty(wrong, async (sent) => {
          const answer = await fetch(`${stack.url}${path}`, {
            method: 'POST',
            headers: {
              authorization: `Bearer ${stack.key}`,
              'content-type': 'application/json',
              'a2a-version': '1.0',
            },
            body: sent,
          });
          const text = await answer.text();
          assert.ok(
            answer.status < 500 && (answer.status >= 400 || answer.status === 200),
            `${answer.status}: ${sent}: ${text}`,
          );
        }),
        { numRuns: BODIES },
      );
    });
});

type Place = readonly (string | number)[];

/** The ways to every value inside. */
function placesIn(value: unknown, place: Place = []): Place[] {
  if (typeof value !== 'object' || value === null) return [place];
  const inner = Object.entries(value).flatMap(([key, one]) =>
    placesIn(one, [...place, Array.isArray(value) ? Number(key) : key]),
  );
  return place.length > 0 ? [place, ...inner] : inner;
}

function replaced(value: unknown, [key, ...rest]: Place, by: unknown): unknown {
  if (key === undefined) return by;
  const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Record<
    string | number,
    unknown
  >;
  copy[key] = replaced(copy[key], rest, by);
  return copy;
}
