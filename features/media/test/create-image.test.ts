/**
 * create_image: calls each provider in its own protocol, the next one if one cannot do it, and pays for a task once.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { tool } from '../tools/create-image.ts';
import { madeAt, mediaBench } from './media-bench.ts';
import { PNG } from '#test/support/media-server.ts';

const OTTER = { prompt: 'An otter', aspect_ratio: '16:9', filename_hint: 'My otter!.png' };

const only = (provider: string) => ({
  env: ({ url }: { readonly url: string }) => ({
    [`${provider}_BASE_URL`]: url,
    [`${provider}_API_KEY`]: `key-of-${provider}-1234`,
  }),
});

describe('TL create_image', () => {
  test('asks OpenAI first, keeps the picture as a file, and shows it', async (t) => {
    const bench = await mediaBench(t);
    const result = await bench.run(tool, OTTER);
    const { text, path } = madeAt(result);
    assert.match(path, /^generated\/\d{4}-\d\d-\d\d\/My-otter-0123456789ab\.png$/);
    assert.match(text, /^Made by openai\/gpt-image-1\.5: \S+ \(64x48 pixels, \d+ bytes\)$/);
    assert.deepEqual(await bench.read(path), PNG);
    assert.ok(result.ok && result.images?.[0]);
    assert.deepEqual(Buffer.from(result.images[0]), PNG);
    const [seen] = bench.server.seen;
    assert.equal(seen?.line, 'POST /v1/images/generations');
    assert.equal(seen.headers.authorization, 'Bearer key-of-openai-1234');
    assert.deepEqual(seen.body, {
      model: 'gpt-image-1.5',
      prompt: 'An otter',
      n: 1,
      size: '1536x1024',
      quality: 'medium',
    });
    assert.deepEqual(
      bench.rows.map(({ purpose, host, status }) => [purpose, host, status]),
      [['media', bench.server.place, 200]],
    );
  });

  test('DU-7 holds the price before it asks, and settles it after', async (t) => {
    const bench = await mediaBench(t);
    await bench.run(tool, OTTER);
    assert.deepEqual([...bench.reserved], [['openai/gpt-image-1.5', { tokens: 0, usd: 0.05 }]]);
    const { attempt, spent } = bench.settled.get('openai/gpt-image-1.5') ?? {};
    assert.deepEqual([attempt, spent?.usd, spent?.calls], [1, 0.05, 1]);
  });

  test('DU-7 where a budget has no room nothing is asked', async (t) => {
    const exceeded = {
      id: 'b',
      scope: 'turn',
      subject: '',
      since: '1970-01-01',
      measure: 'usd',
      limit: 1,
      extra: 0,
      spent: 1,
      reserved: 0,
      required: 0.05,
      on_limit: 'stop',
    } as const;
    const bench = await mediaBench(t, { hold: { exceeded } });
    const result = await bench.run(tool, OTTER);
    assert.ok(!result.ok);
    assert.equal(result.code, 'BudgetExceeded');
    assert.match(result.message, /has used .* Nothing was ordered of openai\/gpt-image-1\.5\.$/);
    assert.deepEqual(bench.server.seen, []);
  });

  test('asks Gemini in its form', async (t) => {
    const bench = await mediaBench(t, only('GEMINI'));
    assert.match(madeAt(await bench.run(tool, OTTER)).text, /^Made by google\/gemini-2\.5-flash-image: /);
    const [seen] = bench.server.seen;
    assert.equal(seen?.line, 'POST /v1beta/models/gemini-2.5-flash-image:generateContent');
    assert.equal(seen.headers['x-goog-api-key'], 'key-of-GEMINI-1234');
    assert.deepEqual(seen.body.contents, [{ role: 'user', parts: [{ text: 'An otter' }] }]);
    assert.deepEqual(seen.body.generationConfig.imageConfig, { aspectRatio: '16:9' });
  });

  test('asks MiniMax in its form', async (t) => {
    const bench = await mediaBench(t, only('MINIMAX'));
    madeAt(await bench.run(tool, OTTER));
    assert.deepEqual(bench.server.seen[0]?.body, {
      model: 'image-01',
      prompt: 'An otter',
      aspect_ratio: '16:9',
      n: 1,
      response_format: 'base64',
    });
  });

  test('orders a task of DashScope, whose id is kept before it is looked at', async (t) => {
    const bench = await mediaBench(t, only('DASHSCOPE'));
    const ordered = await bench.run(tool, OTTER);
    assert.deepEqual(ordered, { ok: true, text: '', pending: { later: 1 } });
    const [seen] = bench.server.seen;
    assert.equal(seen?.headers['x-dashscope-async'], 'enable');
    assert.deepEqual(seen.body, {
      model: 'wan2.5-t2i-preview',
      input: { prompt: 'An otter' },
      parameters: { n: 1, size: '1696*960' },
    });
    const remaining = bench.left();
    assert.equal(remaining?.task, 'job-1');
    assert.deepEqual(await bench.run(tool, OTTER, { left: remaining }), ordered);
    bench.server.finish();
    const { path } = madeAt(await bench.run(tool, OTTER, { left: remaining }));
    assert.deepEqual(await bench.read(path), PNG);
    assert.equal(bench.server.jobs.size, 1);
  });

  test('DU-2 an order of DashScope whose answer was lost is found among its tasks, and made no second time', async (t) => {
    const bench = await mediaBench(t, only('DASHSCOPE'));
    await bench.run(tool, OTTER);
    const { task: _lost, ...left } = bench.left() ?? assert.fail();
    assert.deepEqual(await bench.run(tool, OTTER, { left }), { ok: true, text: '', pending: { later: 1 } });
    bench.server.finish();
    madeAt(await bench.run(tool, OTTER, { left }));
    const other = await bench.run(tool, { prompt: 'A cat' }, { left });
    assert.ok(!other.ok);
    assert.equal(other.code, 'OutcomeUnknown');
    assert.match(
      other.message,
      /the worker that ordered it was lost before it had the answer\. It was not ordered again\.$/,
    );
    assert.equal(bench.server.jobs.size, 1);
  });

  test('DU-2 so is one whose connection broke', async (t) => {
    const bench = await mediaBench(t, only('DASHSCOPE'));
    bench.server.onRequest = (line, when) => {
      if (line.startsWith('POST') && when === 'after') throw new Error('the line is cut');
    };
    assert.deepEqual(await bench.run(tool, OTTER), { ok: true, text: '', pending: { later: 1 } });
    bench.server.finish();
    madeAt(await bench.run(tool, OTTER, { left: bench.left() ?? assert.fail() }));
    assert.equal(bench.server.lines('POST').length, 1);
  });

  test('DU-2 what was written before its worker was lost is found, and not made again', async (t) => {
    const bench = await mediaBench(t);
    const { path } = madeAt(await bench.run(tool, OTTER));
    const remaining = bench.left() ?? assert.fail();
    assert.equal(madeAt(await bench.run(tool, OTTER, { left: remaining })).path, path);
    assert.equal(bench.server.seen.length, 1);
  });

  test('DU-2 an order of OpenAI whose answer was lost is unknown, and nobody else is asked', async (t) => {
    const bench = await mediaBench(t);
    const remaining = { since: Date.now(), asks: 0, order: { ref: 'openai/gpt-image-1.5', failed: [] } };
    const result = await bench.run(tool, OTTER, { left: remaining });
    assert.ok(!result.ok);
    assert.equal(result.code, 'OutcomeUnknown');
    assert.deepEqual(bench.server.seen, []);
  });

  test('where one refuses the next is asked, and what happened is said', async (t) => {
    const bench = await mediaBench(t);
    bench.server.failing.set('POST /v1/images', 429);
    bench.server.failing.set('POST /v1beta', 500);
    const { text } = madeAt(await bench.run(tool, OTTER));
    assert.match(
      text,
      /^Made by minimax\/image-01: .*\n\[before it openai\/gpt-image-1\.5: it answered 429: not today; google\/gemini-2\.5-flash-image: it answered 500: Internal Server Error\]$/,
    );
    assert.equal(bench.settled.get('openai/gpt-image-1.5')?.spent?.usd, 0);
  });

  test('a 404 is told: no other provider, which costs money, takes its place', async (t) => {
    const bench = await mediaBench(t);
    bench.server.failing.set('POST /v1/images', 404);
    const result = await bench.run(tool, OTTER);
    assert.ok(!result.ok);
    assert.match(result.message, /^it was not made\. openai\/gpt-image-1\.5: it answered 404/);
    assert.equal(bench.server.seen.length, 1);
  });

  test('a provider that is alone and says 429 is asked again when it has time', async (t) => {
    const bench = await mediaBench(t, only('MINIMAX'));
    bench.server.failing.set('POST /v1/image_generation', 429);
    const waits = await bench.run(tool, OTTER);
    assert.deepEqual(waits, { ok: true, text: '', pending: { later: 15 } });
    bench.server.failing.clear();
    const remaining = bench.left();
    assert.ok(remaining);
    assert.match(
      madeAt(await bench.run(tool, OTTER, { left: remaining })).text,
      /^Made by minimax\/image-01: /,
    );
    bench.server.failing.set('POST /v1/image_generation', 429);
    const old = await bench.run(tool, OTTER, { left: { since: Date.now() - 3_700_000, asks: 0 } });
    assert.ok(!old.ok);
    assert.equal(old.code, 'RateLimited');
  });

  for (const path of ['/api/v1', '/compatible-mode/v1', ''])
    test(`DashScope is asked at its own API where its base URL ends in "${path}"`, async (t) => {
      const bench = await mediaBench(t, {
        env: ({ url }) => ({
          DASHSCOPE_API_KEY: 'key-of-dashscope-1234',
          DASHSCOPE_BASE_URL: `${url}${path}`,
        }),
      });
      await bench.run(tool, OTTER);
      assert.equal(bench.server.seen[0]?.line, 'POST /api/v1/services/aigc/text2image/image-synthesis');
    });

  test('DU-2 where a gateway has not heard of the provider nobody else is asked', async (t) => {
    const bench = await mediaBench(t);
    bench.server.failing.set('POST /v1/images', 504);
    const result = await bench.run(tool, OTTER);
    assert.ok(!result.ok);
    assert.equal(result.code, 'OutcomeUnknown');
    assert.equal(bench.server.seen.length, 1);
    assert.equal(bench.settled.size, 0);
  });

  test('without any key it names the settings', async (t) => {
    const bench = await mediaBench(t, { env: () => ({}) });
    const result = await bench.run(tool, OTTER);
    assert.deepEqual(result, {
      ok: false,
      code: 'ExecutionFailed',
      message:
        'it was not made. openai/gpt-image-1.5: no key is set: models.providers.openai.apiKey, or OPENAI_API_KEY; google/gemini-2.5-flash-image: no key is set: models.providers.google.apiKey, or GEMINI_API_KEY; minimax/image-01: no key is set: models.providers.minimax.apiKey, or MINIMAX_API_KEY; dashscope/wan2.5-t2i-preview: no key is set: models.providers.dashscope.apiKey, or DASHSCOPE_API_KEY',
    });
  });

  test('a key that is a secret which is not there is told', async (t) => {
    const bench = await mediaBench(t, {
      env: ({ url }) => ({ MINIMAX_API_KEY: 'secret://mm', MINIMAX_BASE_URL: url }),
    });
    const result = await bench.run(tool, OTTER);
    assert.ok(!result.ok);
    assert.match(result.message, /minimax\/image-01: the secret "mm" is not set/);
    assert.deepEqual(bench.server.seen, []);
  });

  test('arguments that nobody can use are refused', async (t) => {
    const bench = await mediaBench(t);
    for (const args of [
      {},
      { prompt: ' ' },
      { prompt: 'x', aspect_ratio: '2:1' },
      { prompt: 'x'.repeat(5_001) },
    ]) {
      const result = await bench.run(tool, args);
      assert.equal(!result.ok && result.code, 'InvalidArgs', JSON.stringify(args));
    }
  });
});
