import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { generateWithFallback } from '#activities/model/fallback.ts';
import { ask, requestOf, say } from './ask.ts';
import {
  ANTHROPIC,
  begunOf,
  CHAT,
  type FaultyProvider,
  send,
  startFaultyProvider,
} from './faulty-provider.ts';

const REFS = ['anthropic/a', 'openai/r', 'chat/c', 'google/g', 'local/l'];

let provider: FaultyProvider;
before(async () => {
  provider = await startFaultyProvider();
});
after(() => provider.close());

describe('MO-1 a provider that goes silent or breaks off', () => {
  for (const ref of REFS) {
    test(`${ref}: no answer at all is a Timeout that may be retried`, async () => {
      const error = await provider.failureOf(ref, () => undefined, provider.wantsAnswer);
      assert.deepEqual([error.code, error.retryable], ['Timeout', true]);
      assert.match(error.message, /no answer within 0.3 s/);
    });

    test(`${ref}: silence after the first text is a Timeout`, async () => {
      const error = await provider.failureOf(
        ref,
        (request, response) => send(response, begunOf(request.path)),
        provider.wantsMore,
      );
      assert.equal(error.code, 'Timeout');
      assert.match(error.message, /nothing more within 0.2 s/);
    });

    test(`${ref}: a socket that is cut in mid-answer is Unreachable, not a short answer`, async () => {
      const error = await provider.failureOf(ref, (request, response) => {
        send(response, begunOf(request.path));
        setTimeout(() => response.destroy(), 20);
      });
      assert.deepEqual([error.code, error.retryable], ['Unreachable', true]);
    });

    test(`${ref}: a stream that ends without saying why is a BadAnswer, not a short answer`, async () => {
      const error = await provider.failureOf(ref, (request, response) => {
        send(response, begunOf(request.path));
        response.end();
      });
      assert.deepEqual([error.code, error.retryable], ['BadAnswer', true]);
    });

    test(`${ref}: a page that is no stream is a BadAnswer`, async () => {
      const error = await provider.failureOf(ref, (_, response) => {
        response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Sign in</html>');
      });
      assert.equal(error.code, 'BadAnswer');
    });

    test(`${ref}: a stop in mid-stream is rethrown with its own reason`, async () => {
      const stop = new AbortController();
      const reason = new Error('the user stopped the turn');
      provider.fault = (request, response) => {
        send(response, begunOf(request.path));
        setTimeout(() => stop.abort(reason), 20);
      };
      await assert.rejects(
        ask(provider.models, ref, 'anything', { signal: stop.signal }),
        (error) => error === reason,
      );
    });
  }

  /** Sends `more` for as long as the client listens, and ends if no client gives it up. */
  const keepSending = (response: ServerResponse, more: string): void => {
    let remaining = 500;
    const timer = setInterval(() => (remaining-- > 0 ? response.write(more) : response.destroy()), 20);
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
      const before = await provider.failureOf(
        'chat/c',
        (_, response) => {
          send(response, []);
          keepSending(response, more);
        },
        provider.wantsAnswer,
      );
      assert.match(before.message, /no answer within 0.3 s/);
      const after = await provider.failureOf(
        'chat/c',
        (_, response) => {
          send(response, CHAT);
          keepSending(response, more);
        },
        provider.wantsMore,
      );
      assert.match(after.message, /nothing more within 0.2 s/);
    });
  }

  test('content that keeps coming is no silence, however long it takes', async () => {
    provider.fault = (_, response) => {
      let remaining = 12;
      const timer = setInterval(() => {
        remaining -= 1;
        if (remaining > 0) return send(response, CHAT);
        clearInterval(timer);
        send(response, [{ ...EMPTY, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }]);
        response.end('data: [DONE]\n\n');
      }, 50);
    };
    const { answer } = await ask(provider.wantsMore, 'chat/c', 'anything');
    assert.equal(answer.text, 'Half'.repeat(11));
  });

  test('silence before the first content is judged by the longer limit, though headers have come', async () => {
    const error = await provider.failureOf(
      'anthropic/a',
      (_, response) => send(response, ANTHROPIC.slice(0, 1)),
      provider.wantsAnswer,
    );
    assert.match(error.message, /no answer within 0.3 s/);
  });

  test('a port where nobody listens is Unreachable', async () => {
    const error = await provider.failureOf('closed/x', () => undefined);
    assert.deepEqual([error.code, error.retryable], ['Unreachable', true]);
  });

  test('a key is never carried along a redirect', async () => {
    const requested = provider.seen.length;
    const error = await provider.failureOf('anthropic/a', (_, response) => {
      response.writeHead(307, { location: `${provider.url}/elsewhere` }).end();
    });
    assert.equal(error.code, 'BadRequest');
    assert.match(error.message, /baseUrl/);
    assert.equal(provider.seen.length - requested, 1);
  });

  test('an endless answer is given up', async () => {
    const error = await provider.failureOf('local/l', (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const chunk = `: ${'x'.repeat(1_000_000)}\n\n`;
      for (let count = 0; count < 40; count++) response.write(chunk);
    });
    assert.match(error.message, /more than \d+ bytes/);
    assert.deepEqual([error.code, error.retryable], ['TooLarge', false]);
  });

  test('more text than any model writes is given up, and no other model is asked', async () => {
    const requested = provider.seen.length;
    provider.fault = (_, response) => {
      const content = 'x'.repeat(1_000_000);
      send(
        response,
        Array.from({ length: 5 }, () => ({ ...EMPTY, choices: [{ index: 0, delta: { content } }] })),
      );
    };
    const { model: _, ...request } = requestOf([say('anything')]);
    await assert.rejects(generateWithFallback(provider.models, ['chat/c', 'local/l'], request), {
      code: 'TooLarge',
      retryable: false,
    });
    assert.equal(provider.seen.length - requested, 1);
  });

  test('arguments that are nested too deep are the model’s to mend', async () => {
    const nested = (depth: number): string => '{"a":'.repeat(depth) + '1' + '}'.repeat(depth);
    for (const [depth, isInvalid] of [
      [20, false],
      [64, false],
      [65, true],
      [100_000, true],
    ] as const) {
      provider.fault = (_, response) => {
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
      const { answer } = await ask(provider.models, 'chat/c', 'anything');
      const [request] = answer.calls;
      assert.equal(request?.name, 'read_file');
      assert.equal(request.invalid !== undefined, isInvalid, `${depth} levels: ${request.invalid}`);
      if (isInvalid)
        assert.match(request.invalid ?? '', /are not a JSON object: nested deeper than 64 levels/);
      if (isInvalid) assert.deepEqual(request.args, {});
    }
  });
});
