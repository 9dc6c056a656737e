import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createModels, type Models } from '#activities/model/model-catalog.ts';
import type { ChatMessage } from '#domain/turn/message.ts';
import { ModelError } from '#domain/model/model.ts';
import { ask } from './ask.ts';
import { startProvider } from './provider-server.ts';

const KEYS = {
  anthropic: 'sk-ant-planted-1234567890',
  openai: 'sk-planted-0987654321',
  google: 'AIza-planted-55555',
};

/** Each protocol by its reference, with the path that it must call. */
const PROTOCOLS = [
  ['anthropic/claude-sonnet-4-6', '/v1/messages'],
  ['openai/gpt-4.1-mini', '/v1/responses'],
  ['chat/gpt-4.1-mini', '/v1/chat/completions'],
  ['google/gemini-2.5-flash', '/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse'],
  ['openrouter/anthropic/claude-sonnet-4.5', '/v1/chat/completions'],
] as const;

let server: Awaited<ReturnType<typeof startProvider>>;
let models: Models;

before(async () => {
  server = await startProvider();
  const baseUrl = server.url;
  models = createModels({
    providers: {
      anthropic: { apiKey: KEYS.anthropic, baseUrl },
      openai: { apiKey: KEYS.openai, baseUrl, api: 'responses' },
      chat: { type: 'openai', apiKey: KEYS.openai, baseUrl, api: 'chat' },
      google: { apiKey: KEYS.google, baseUrl },
      openrouter: { apiKey: KEYS.openai, baseUrl },
      proxied: { baseUrl, toolCallPrefix: 'proxy_{tool_name}' },
    },
  });
  server.mock.onMessage('greet', { content: 'Hello, this answer comes in pieces.' });
  server.mock.onMessage('two calls', {
    content: 'Both.',
    toolCalls: [
      { name: 'read_file', arguments: '{"path":"a.txt"}' },
      { name: 'datetime', arguments: '{}' },
    ],
  });
  server.mock.onMessage('ponder', { content: 'Round.', reasoning: 'A seal is a round animal.' });
  server.mock.onMessage('renamed', { toolCalls: [{ name: 'proxy_read_file', arguments: '{"path":"a"}' }] });
  server.mock.onMessage('nobody', { toolCalls: [{ name: 'nobody_offers_this', arguments: '{"a":1}' }] });
  server.mock.onMessage('too fast', {
    error: { message: `slow down ${KEYS.anthropic} ${KEYS.openai} ${KEYS.google}`, type: 'rate_limit_error' },
    status: 429,
    retryAfter: 7,
  });
  server.mock.onMessage('busy', { error: { message: 'Overloaded', type: 'overloaded_error' }, status: 529 });
  server.mock.onMessage('bad key', {
    error: { message: 'Incorrect API key provided: sk-pl***4321' },
    status: 401,
  });
  server.mock.onMessage('too long', {
    error: { message: "This model's maximum context length is 10 tokens.", code: 'context_length_exceeded' },
    status: 400,
  });
});

after(() => server.close());

/** How each protocol says that the model may think a little. */
const THINKING_A_LITTLE = [
  [
    'anthropic/claude-sonnet-4-6',
    { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'low' } },
  ],
  ['openai/gpt-5-mini', { reasoning: { effort: 'low' } }],
  ['chat/gpt-5-mini', { reasoning_effort: 'low' }],
  ['google/gemini-2.5-flash', { generationConfig: { thinkingConfig: { thinkingBudget: 6554 } } }],
  ['openrouter/anthropic/claude-sonnet-4.5', { reasoning_effort: 'low' }],
] as const;

describe('thinking', () => {
  for (const [ref, message] of THINKING_A_LITTLE)
    test(`${ref} is told how much, and nothing when nothing is set`, async () => {
      const fields = Object.keys(message);
      await ask(models, ref, 'greet', { thinking: 'low' });
      const body = server.seen.at(-1)?.body ?? {};
      assert.deepEqual(Object.fromEntries(fields.map((field) => [field, body[field]])), message);
      await ask(models, ref, 'greet');
      assert.doesNotMatch(JSON.stringify(server.seen.at(-1)?.body), /thinking|reasoning_effort|"effort"/);
    });
});

describe('thoughts', () => {
  // OpenAI's Chat Completions shows none.
  for (const [ref] of THINKING_A_LITTLE.filter(([one]) => one !== 'chat/gpt-5-mini'))
    test(`MO-1 ${ref} passes them on beside its text to whoever takes them`, async () => {
      let thoughts = '';
      const onThinking = (text: string) => {
        thoughts += text;
      };
      const { answer, deltas } = await ask(models, ref, 'ponder', { thinking: 'low', onThinking });
      assert.deepEqual([answer.text, deltas.join('')], ['Round.', 'Round.']);
      assert.equal(thoughts, 'A seal is a round animal.');
      assert.equal((await ask(models, ref, 'ponder', { thinking: 'low' })).answer.text, 'Round.');
    });

  for (const [ref, field] of [
    ['openai/gpt-5-mini', '"summary":"auto"'],
    ['google/gemini-2.5-flash', '"thinkingBudget":6554,"includeThoughts":true'],
  ] as const)
    test(`MO-1 ${ref} is asked to show them only for that`, async () => {
      const sent = () => JSON.stringify(server.seen.at(-1)?.body);
      await ask(models, ref, 'greet', { thinking: 'low' });
      assert.ok(!sent().includes(field), sent());
      await ask(models, ref, 'greet', { thinking: 'low', onThinking: () => undefined });
      assert.ok(sent().includes(field), sent());
    });
});

for (const [ref, path] of PROTOCOLS) {
  describe(`MO-1 ${ref}`, () => {
    test('streams its text in pieces and says stop', async () => {
      const { answer, deltas } = await ask(models, ref, 'greet');
      assert.equal(answer.text, 'Hello, this answer comes in pieces.');
      assert.equal(deltas.join(''), answer.text);
      assert.ok(deltas.length > 1, 'one delta only');
      assert.equal(answer.finish, 'stop');
      assert.equal(server.seen.at(-1)?.path, path);
    });

    test('records usage that is never nothing', async () => {
      const { answer } = await ask(models, ref, 'greet');
      assert.ok(answer.usage.inputTokens > 0);
      assert.ok(answer.usage.outputTokens > 0);
    });

    test('gives parallel calls in their order with the text before them', async () => {
      const { answer } = await ask(models, ref, 'two calls');
      assert.equal(answer.text, 'Both.');
      assert.deepEqual(answer.calls, [
        { name: 'read_file', args: { path: 'a.txt' } },
        { name: 'datetime', args: {} },
      ]);
      assert.equal(answer.finish, 'calls');
    });

    test('hands on a call of a tool that nobody offered, for policy to refuse', async () => {
      const { answer } = await ask(models, ref, 'nobody');
      assert.deepEqual(answer.calls, [{ name: 'nobody_offers_this', args: { a: 1 } }]);
    });

    test('tells a rate limit with the wait asked for, and no key', async () => {
      await assert.rejects(ask(models, ref, 'too fast'), (error) => {
        assert.ok(error instanceof ModelError);
        assert.equal(error.code, 'RateLimited');
        assert.equal(error.retryable, true);
        assert.equal(error.retryAfterMs, 7000);
        assert.doesNotMatch(JSON.stringify([error.message, error.stack, error.cause]), /planted/);
        return true;
      });
    });

    test('asks once: retries belong to Temporal', async () => {
      const requested = server.seen.length;
      await assert.rejects(ask(models, ref, 'busy'), { code: 'Overloaded', retryable: true });
      assert.equal(server.seen.length - requested, 1);
    });

    test('does not retry a refused key, and names the setting', async () => {
      await assert.rejects(ask(models, ref, 'bad key'), (error) => {
        assert.ok(error instanceof ModelError);
        assert.equal(error.code, 'Auth');
        assert.equal(error.retryable, false);
        assert.match(error.message, /models\.providers\.\w+\.apiKey/);
        assert.doesNotMatch(error.message, /sk-pl/);
        return true;
      });
    });

    test('tells a prompt that does not fit apart from other bad requests', async () => {
      await assert.rejects(ask(models, ref, 'too long'), { code: 'ContextOverflow', retryable: false });
    });
  });
}

const TRANSCRIPT: readonly ChatMessage[] = [
  { role: 'user', text: 'greet' },
  { role: 'user', text: 'and read' },
  {
    role: 'assistant',
    text: '',
    calls: [
      { id: 'call_t.0.0', name: 'read_file', args: { path: 'a' } },
      { id: 'call_t.0.1', name: 'datetime', args: {} },
    ],
  },
  {
    role: 'tool',
    results: [
      { callId: 'call_t.0.1', name: 'datetime', ok: false, text: 'denied by policy' },
      { callId: 'call_t.0.0', name: 'read_file', ok: true, text: 'A' },
    ],
  },
  { role: 'user', text: 'greet again' },
];

describe('MO-1 on the wire', () => {
  const wireOf = async (ref: string, overrides = {}) => {
    await ask(models, ref, TRANSCRIPT, overrides);
    const request = server.seen.at(-1);
    assert.ok(request);
    return request;
  };

  test('Anthropic gets results right after their calls, in order, and cache marks', async () => {
    const { body, headers } = await wireOf('anthropic/claude-sonnet-4-6');
    assert.equal(headers['x-api-key'], KEYS.anthropic);
    const ephemeral = { type: 'ephemeral' };
    assert.deepEqual(body['system'], [{ type: 'text', text: 'You are brief.', cache_control: ephemeral }]);
    assert.deepEqual(body['messages'], [
      { role: 'user', content: [{ type: 'text', text: 'greet\n\nand read' }] },
      {
        role: 'assistant',
        content: [
          { type: 'tool_use', id: 'call_0', name: 'read_file', input: { path: 'a' } },
          { type: 'tool_use', id: 'call_1', name: 'datetime', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'call_0', content: 'A' },
          { type: 'tool_result', tool_use_id: 'call_1', content: 'denied by policy', is_error: true },
          { type: 'text', text: 'greet again', cache_control: ephemeral },
        ],
      },
    ]);
  });

  test('Responses gets the whole transcript, keeps no state there and takes an idempotency key', async () => {
    const { body, headers } = await wireOf('openai/gpt-4.1-mini');
    assert.equal(body['store'], false);
    assert.equal(body['previous_response_id'], undefined);
    assert.match(String(headers['idempotency-key']), /^turn_1\.0-[0-9a-f]{16}$/);
    const input = body['input'] as { type?: string; role?: string; call_id?: string }[];
    assert.deepEqual(
      input.map((item) => [item.type ?? item.role, item.call_id]),
      [
        ['system', undefined],
        ['user', undefined],
        ['function_call', 'call_0'],
        ['function_call', 'call_1'],
        ['function_call_output', 'call_0'],
        ['function_call_output', 'call_1'],
        ['user', undefined],
      ],
    );
  });

  test('a retry has the idempotency key of the first try, a changed prompt has another', async () => {
    const first = await wireOf('openai/gpt-4.1-mini');
    const retry = await wireOf('openai/gpt-4.1-mini', { attempt: 2 });
    const compacted = await wireOf('openai/gpt-4.1-mini', { system: 'Shorter.' });
    const key = 'idempotency-key';
    assert.equal(retry.headers[key], first.headers[key]);
    assert.notEqual(compacted.headers[key], first.headers[key]);
  });

  test('Chat Completions gets plain text contents and no field of another server', async () => {
    for (const ref of ['chat/gpt-4.1-mini', 'openrouter/some/model']) {
      const { body } = await wireOf(ref);
      const messages = body['messages'] as { role: string; content: unknown; tool_call_id?: string }[];
      assert.deepEqual(
        messages.map((message) => message.role),
        ['system', 'user', 'assistant', 'tool', 'tool', 'user'],
      );
      assert.equal(messages[1]?.content, 'greet\n\nand read');
      assert.equal(messages[3]?.tool_call_id, 'call_0');
      assert.equal('store' in body, false);
      assert.deepEqual(body['stream_options'], { include_usage: true });
    }
    assert.equal(server.seen.at(-1)?.body['model'], 'some/model');
  });

  test('Gemini gets function responses by name after their calls', async () => {
    const { body, headers } = await wireOf('google/gemini-2.5-flash');
    assert.equal(headers['x-goog-api-key'], KEYS.google);
    const contents = body['contents'] as { role: string; parts: Record<string, { name?: string }>[] }[];
    assert.deepEqual(
      contents.map((content) => [
        content.role,
        content.parts.map((part) => Object.values(part)[0]?.name ?? 'text'),
      ]),
      [
        ['user', ['text']],
        ['model', ['read_file', 'datetime']],
        ['user', ['read_file', 'datetime']],
        ['user', ['text']],
      ],
    );
  });

  test('no server sees $schema, and odd tool names come back as they were offered', async () => {
    const name = 'mcp_files__read.all/now';
    const tools = [{ name, description: 'Odd.', parameters: { $schema: 'x', type: 'object' } }];
    server.mock.onMessage('odd name', { toolCalls: [{ name: 'mcp_files__read_all_now', arguments: '{}' }] });
    for (const [ref] of PROTOCOLS) {
      const { answer } = await ask(models, ref, 'odd name', { tools });
      assert.deepEqual(answer.calls, [{ name, args: {} }], ref);
      assert.doesNotMatch(JSON.stringify(server.seen.at(-1)?.body), /\$schema|read\.all/);
    }
  });

  test('a call that a proxy has renamed is one of the tool', async () => {
    const { answer } = await ask(models, 'proxied/some-model', 'renamed');
    assert.deepEqual(answer.calls, [{ name: 'read_file', args: { path: 'a' } }]);
  });
});
