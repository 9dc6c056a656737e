import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { ask } from './ask.ts';
import {
  ANTHROPIC,
  CHAT,
  type FaultyProvider,
  RESPONSES,
  send,
  startFaultyProvider,
} from './faulty-provider.ts';

let provider: FaultyProvider;
before(async () => {
  provider = await startFaultyProvider();
});
after(() => provider.close());

function refuse(
  response: ServerResponse,
  status: number,
  body: object,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

describe('MO-1 what providers say inside a stream or a refusal', () => {
  test('Anthropic overloaded in mid-stream may be retried', async () => {
    const error = await provider.failureOf('anthropic/a', (_, response) => {
      send(response, [
        ...ANTHROPIC,
        { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
      ]);
      response.end();
    });
    assert.deepEqual([error.code, error.retryable], ['Overloaded', true]);
  });

  test('a failed OpenAI response may be retried', async () => {
    const error = await provider.failureOf('openai/r', (_, response) => {
      const body = { id: 'r', status: 'failed', error: { code: 'server_error', message: 'Sorry' } };
      send(response, [RESPONSES[0] ?? {}, { type: 'response.failed', sequence_number: 1, response: body }]);
      response.end();
    });
    assert.deepEqual([error.code, error.retryable], ['Overloaded', true]);
  });

  test('an upstream error that OpenRouter reports in mid-stream may be retried', async () => {
    const error = await provider.failureOf('local/l', (_, response) => {
      send(response, [...CHAT, { error: { message: 'Provider returned error', code: 502 } }]);
      response.end();
    });
    assert.deepEqual([error.code, error.retryable], ['Overloaded', true]);
  });

  test('Anthropic cached tokens are counted, and cut arguments reach the model as invalid', async () => {
    provider.fault = (_, response) => {
      send(response, [
        ...ANTHROPIC,
        { type: 'content_block_stop', index: 0 },
        {
          type: 'content_block_start',
          index: 1,
          content_block: { type: 'tool_use', id: 't', name: 'read_file', input: {} },
        },
        {
          type: 'content_block_delta',
          index: 1,
          delta: { type: 'input_json_delta', partial_json: '{"path":' },
        },
        { type: 'content_block_stop', index: 1 },
        { type: 'message_delta', delta: { stop_reason: 'max_tokens' }, usage: { output_tokens: 30 } },
        { type: 'message_stop' },
      ]);
      response.end();
    };
    const { answer } = await ask(provider.models, 'anthropic/a', 'anything');
    assert.deepEqual(answer.usage, { inputTokens: 100, outputTokens: 30, cachedInputTokens: 70 });
    assert.equal(answer.finish, 'calls');
    assert.deepEqual(answer.calls[0]?.args, {});
    assert.match(answer.calls[0]?.invalid ?? '', /not a JSON object: \{"path":/);
  });

  test('an OpenAI response at its output limit says length, with its cached tokens', async () => {
    provider.fault = (_, response) => {
      const usage = { input_tokens: 100, output_tokens: 5, input_tokens_details: { cached_tokens: 64 } };
      const incomplete = { id: 'r', incomplete_details: { reason: 'max_output_tokens' }, usage };
      send(response, [...RESPONSES, { type: 'response.incomplete', response: incomplete }]);
      response.end();
    };
    const { answer } = await ask(provider.models, 'openai/r', 'anything');
    assert.deepEqual([answer.text, answer.finish], ['Half', 'length']);
    assert.deepEqual(answer.usage, { inputTokens: 100, outputTokens: 5, cachedInputTokens: 64 });
  });

  const REFUSALS: readonly [
    string,
    number,
    object,
    Record<string, string>,
    string,
    boolean,
    number | undefined,
  ][] = [
    [
      'openai/r',
      429,
      { error: { message: 'Quota', code: 'insufficient_quota' } },
      {},
      'Auth',
      false,
      undefined,
    ],
    [
      'anthropic/a',
      400,
      { error: { message: 'Your credit balance is too low' } },
      {},
      'Auth',
      false,
      undefined,
    ],
    [
      'google/g',
      400,
      { error: { message: 'API key not valid. Please pass one.' } },
      {},
      'Auth',
      false,
      undefined,
    ],
    ['anthropic/a', 404, { error: { message: 'model: nope' } }, {}, 'UnknownModel', false, undefined],
    [
      'local/l',
      400,
      { error: { message: 'The model `x` does not exist' } },
      {},
      'UnknownModel',
      false,
      undefined,
    ],
    [
      'chat/c',
      400,
      { error: { message: 'odd' } },
      { 'x-should-retry': 'true' },
      'BadRequest',
      true,
      undefined,
    ],
    [
      'chat/c',
      503,
      { error: { message: 'no' } },
      { 'x-should-retry': 'false' },
      'Overloaded',
      false,
      undefined,
    ],
    [
      'chat/c',
      429,
      { error: { message: 'no' } },
      { 'retry-after-ms': '1500', 'retry-after': '9' },
      'RateLimited',
      true,
      1500,
    ],
    [
      'google/g',
      429,
      { error: { message: 'no', details: [{ retryDelay: '34s' }] } },
      {},
      'RateLimited',
      true,
      34_000,
    ],
    ['chat/c', 400, { error: { message: 'no', code: 'content_filter' } }, {}, 'Filtered', false, undefined],
    ['anthropic/a', 400, { error: { message: 'messages: bad' } }, {}, 'BadRequest', false, undefined],
    [
      'anthropic/a',
      413,
      { error: { type: 'request_too_large', message: 'big' } },
      {},
      'ContextOverflow',
      false,
      undefined,
    ],
    ['anthropic/a', 408, { error: { message: 'slow' } }, {}, 'Timeout', true, undefined],
    ['anthropic/a', 409, { error: { message: 'conflict' } }, {}, 'Overloaded', true, undefined],
    ['anthropic/a', 425, { error: { message: 'early' } }, {}, 'Overloaded', true, undefined],
  ];
  for (const [ref, status, body, headers, code, retryable, wait] of REFUSALS) {
    test(`${ref} answering ${status} ${JSON.stringify(body)} ${JSON.stringify(headers)} is ${code}`, async () => {
      const error = await provider.failureOf(ref, (_, response) => refuse(response, status, body, headers));
      assert.deepEqual([error.code, error.retryable, error.retryAfterMs], [code, retryable, wait]);
    });
  }
});
