import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { generateWithFallback } from '#activities/model/fallback.ts';
import { createModels, type Models } from '#activities/model/model-catalog.ts';
import { ModelError } from '#domain/model.ts';
import { ask, requestOf, say } from './ask.ts';
import { type SeenRequest, startServer, type TestServer } from './provider-server.ts';

/** Events of the three protocols, each a stream that has begun to say `Half`. */
const ANTHROPIC = [
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
const RESPONSES = [
  { type: 'response.created', response: { id: 'r', created_at: 1, model: 'x' } },
  {
    type: 'response.output_item.added',
    output_index: 0,
    item: { type: 'message', id: 'm', status: 'in_progress', role: 'assistant', content: [] },
  },
  { type: 'response.output_text.delta', item_id: 'm', output_index: 0, content_index: 0, delta: 'Half' },
];
const CHAT = [
  {
    id: 'c',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'x',
    choices: [{ index: 0, delta: { content: 'Half' } }],
  },
];
const GEMINI = [{ candidates: [{ content: { role: 'model', parts: [{ text: 'Half' }] }, index: 0 }] }];

function begunOf(path: string): readonly object[] {
  if (path.includes('/messages')) return ANTHROPIC;
  if (path.includes('/responses')) return RESPONSES;
  return path.includes('/chat/') ? CHAT : GEMINI;
}

function send(response: ServerResponse, events: readonly object[]): void {
  if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of events) {
    const type = 'type' in event ? `event: ${String(event.type)}\n` : '';
    response.write(`${type}data: ${JSON.stringify(event)}\n\n`);
  }
}

function refuse(
  response: ServerResponse,
  status: number,
  body: object,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

type Fault = (request: SeenRequest, response: ServerResponse) => void;

let fault: Fault = () => undefined;
let server: TestServer;
/** With time enough for a busy machine; the others have little of one kind each. */
let models: Models;
let wantsAnswer: Models;
let wantsMore: Models;
const REFS = ['anthropic/a', 'openai/r', 'chat/c', 'google/g', 'local/l'];

before(async () => {
  server = await startServer((request, response) => fault(request, response));
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
  models = modelsOf(60, 60);
  wantsAnswer = modelsOf(0.3, 60);
  wantsMore = modelsOf(60, 0.2);
});

after(() => server.close());

/** The ModelError of asking `ref` while the server shows `how`. */
async function failureOf(ref: string, how: Fault, asked = models): Promise<ModelError> {
  fault = how;
  try {
    await ask(asked, ref, 'anything');
  } catch (error) {
    assert.ok(error instanceof ModelError, String(error));
    return error;
  }
  return assert.fail('it answered');
}

describe('MO-1 a provider that goes silent or breaks off', () => {
  for (const ref of REFS) {
    test(`${ref}: no answer at all is a Timeout that may be retried`, async () => {
      const error = await failureOf(ref, () => undefined, wantsAnswer);
      assert.deepEqual([error.code, error.retryable], ['Timeout', true]);
      assert.match(error.message, /no answer within 0.3 s/);
    });

    test(`${ref}: silence after the first text is a Timeout`, async () => {
      const error = await failureOf(
        ref,
        (request, response) => send(response, begunOf(request.path)),
        wantsMore,
      );
      assert.equal(error.code, 'Timeout');
      assert.match(error.message, /nothing more within 0.2 s/);
    });

    test(`${ref}: a socket that is cut in mid-answer is Unreachable, not a short answer`, async () => {
      const error = await failureOf(ref, (request, response) => {
        send(response, begunOf(request.path));
        setTimeout(() => response.destroy(), 20);
      });
      assert.deepEqual([error.code, error.retryable], ['Unreachable', true]);
    });

    test(`${ref}: a stream that ends without saying why is a BadAnswer, not a short answer`, async () => {
      const error = await failureOf(ref, (request, response) => {
        send(response, begunOf(request.path));
        response.end();
      });
      assert.deepEqual([error.code, error.retryable], ['BadAnswer', true]);
    });

    test(`${ref}: a page that is no stream is a BadAnswer`, async () => {
      const error = await failureOf(ref, (_, response) => {
        response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Sign in</html>');
      });
      assert.equal(error.code, 'BadAnswer');
    });

    test(`${ref}: a stop in mid-stream is rethrown with its own reason`, async () => {
      const stop = new AbortController();
      const reason = new Error('the user stopped the turn');
      fault = (request, response) => {
        send(response, begunOf(request.path));
        setTimeout(() => stop.abort(reason), 20);
      };
      await assert.rejects(
        ask(models, ref, 'anything', { signal: stop.signal }),
        (error) => error === reason,
      );
    });
  }

  /** Sends `more` for as long as somebody listens, and ends what nobody gives up. */
  const keepSending = (response: ServerResponse, more: string): void => {
    let left = 500;
    const timer = setInterval(() => (left-- > 0 ? response.write(more) : response.destroy()), 20);
    response.on('close', () => clearInterval(timer));
  };
  const EMPTY = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'x' };
  const KEEP_ALIVES: Readonly<Record<string, string>> = {
    comments: ': still here\n\n',
    'empty deltas': `data: ${JSON.stringify({ ...EMPTY, choices: [{ index: 0, delta: { content: '' } }] })}\n\n`,
    'deltas with nothing in them': `data: ${JSON.stringify({ ...EMPTY, choices: [{ index: 0, delta: {} }] })}\n\n`,
  };
  for (const [what, more] of Object.entries(KEEP_ALIVES)) {
    test(`${what} do not make silence longer, before the first content or after it`, async () => {
      const before = await failureOf(
        'chat/c',
        (_, response) => {
          send(response, []);
          keepSending(response, more);
        },
        wantsAnswer,
      );
      assert.match(before.message, /no answer within 0.3 s/);
      const after = await failureOf(
        'chat/c',
        (_, response) => {
          send(response, CHAT);
          keepSending(response, more);
        },
        wantsMore,
      );
      assert.match(after.message, /nothing more within 0.2 s/);
    });
  }

  test('content that keeps coming is no silence, however long it takes', async () => {
    fault = (_, response) => {
      let left = 12;
      const timer = setInterval(() => {
        left -= 1;
        if (left > 0) return send(response, CHAT);
        clearInterval(timer);
        send(response, [{ ...EMPTY, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }]);
        response.end('data: [DONE]\n\n');
      }, 50);
    };
    const { answer } = await ask(wantsMore, 'chat/c', 'anything');
    assert.equal(answer.text, 'Half'.repeat(11));
  });

  test('silence before the first content is judged by the longer limit, though headers have come', async () => {
    const error = await failureOf(
      'anthropic/a',
      (_, response) => send(response, ANTHROPIC.slice(0, 1)),
      wantsAnswer,
    );
    assert.match(error.message, /no answer within 0.3 s/);
  });

  test('a port where nobody listens is Unreachable', async () => {
    const error = await failureOf('closed/x', () => undefined);
    assert.deepEqual([error.code, error.retryable], ['Unreachable', true]);
  });

  test('a key is never carried along a redirect', async () => {
    const asked = server.seen.length;
    const error = await failureOf('anthropic/a', (_, response) => {
      response.writeHead(307, { location: `${server.url}/elsewhere` }).end();
    });
    assert.equal(error.code, 'BadRequest');
    assert.match(error.message, /baseUrl/);
    assert.equal(server.seen.length - asked, 1);
  });

  test('an endless answer is given up', async () => {
    const error = await failureOf('local/l', (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const chunk = `: ${'x'.repeat(1_000_000)}\n\n`;
      for (let count = 0; count < 40; count++) response.write(chunk);
    });
    assert.match(error.message, /more than \d+ bytes/);
    assert.deepEqual([error.code, error.retryable], ['TooLarge', false]);
  });

  test('more text than any model writes is given up, and no other model is asked', async () => {
    const asked = server.seen.length;
    fault = (_, response) => {
      const content = 'x'.repeat(1_000_000);
      send(
        response,
        Array.from({ length: 5 }, () => ({ ...EMPTY, choices: [{ index: 0, delta: { content } }] })),
      );
    };
    const { model: _, ...request } = requestOf([say('anything')]);
    await assert.rejects(generateWithFallback(models, ['chat/c', 'local/l'], request), {
      code: 'TooLarge',
      retryable: false,
    });
    assert.equal(server.seen.length - asked, 1);
  });

  test('arguments that are nested too deep are the model’s to mend', async () => {
    const nested = (depth: number): string => '{"a":'.repeat(depth) + '1' + '}'.repeat(depth);
    for (const [depth, isInvalid] of [
      [20, false],
      [64, false],
      [65, true],
      [100_000, true],
    ] as const) {
      fault = (_, response) => {
        const call = {
          index: 0,
          id: 'c1',
          type: 'function',
          function: { name: 'read_file', arguments: nested(depth) },
        };
        const delta = { tool_calls: [call] };
        send(response, [
          { ...EMPTY, choices: [{ index: 0, delta }] },
          { ...EMPTY, choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] },
        ]);
        response.end('data: [DONE]\n\n');
      };
      const { answer } = await ask(models, 'chat/c', 'anything');
      const [asked] = answer.calls;
      assert.equal(asked?.name, 'read_file');
      assert.equal(asked.invalid !== undefined, isInvalid, `${depth} levels: ${asked.invalid}`);
      if (isInvalid) assert.match(asked.invalid ?? '', /are not a JSON object: nested deeper than 64 levels/);
      if (isInvalid) assert.deepEqual(asked.args, {});
    }
  });
});

describe('MO-1 what providers say inside a stream or a refusal', () => {
  test('Anthropic overloaded in mid-stream may be retried', async () => {
    const error = await failureOf('anthropic/a', (_, response) => {
      send(response, [
        ...ANTHROPIC,
        { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
      ]);
      response.end();
    });
    assert.deepEqual([error.code, error.retryable], ['Overloaded', true]);
  });

  test('a failed OpenAI response may be retried', async () => {
    const error = await failureOf('openai/r', (_, response) => {
      const body = { id: 'r', status: 'failed', error: { code: 'server_error', message: 'Sorry' } };
      send(response, [RESPONSES[0] ?? {}, { type: 'response.failed', sequence_number: 1, response: body }]);
      response.end();
    });
    assert.deepEqual([error.code, error.retryable], ['Overloaded', true]);
  });

  test('an upstream error that OpenRouter reports in mid-stream may be retried', async () => {
    const error = await failureOf('local/l', (_, response) => {
      send(response, [...CHAT, { error: { message: 'Provider returned error', code: 502 } }]);
      response.end();
    });
    assert.deepEqual([error.code, error.retryable], ['Overloaded', true]);
  });

  test('Anthropic cached tokens are counted, and cut arguments reach the model as invalid', async () => {
    fault = (_, response) => {
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
    const { answer } = await ask(models, 'anthropic/a', 'anything');
    assert.deepEqual(answer.usage, { inputTokens: 100, outputTokens: 30, cachedInputTokens: 70 });
    assert.equal(answer.finish, 'calls');
    assert.deepEqual(answer.calls[0]?.args, {});
    assert.match(answer.calls[0]?.invalid ?? '', /not a JSON object: \{"path":/);
  });

  test('an OpenAI response at its output limit says length, with its cached tokens', async () => {
    fault = (_, response) => {
      const usage = { input_tokens: 100, output_tokens: 5, input_tokens_details: { cached_tokens: 64 } };
      const incomplete = { id: 'r', incomplete_details: { reason: 'max_output_tokens' }, usage };
      send(response, [...RESPONSES, { type: 'response.incomplete', response: incomplete }]);
      response.end();
    };
    const { answer } = await ask(models, 'openai/r', 'anything');
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
      const error = await failureOf(ref, (_, response) => refuse(response, status, body, headers));
      assert.deepEqual([error.code, error.retryable, error.retryAfterMs], [code, retryable, wait]);
    });
  }
});
