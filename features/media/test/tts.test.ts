/** tts: calls each provider in its own protocol, Edge over its WebSocket, and the next one if one cannot do it. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { tool } from '../tools/tts.ts';
import { madeAt, mediaBench } from './media-bench.ts';
import { MP3 } from '#test/support/media-server.ts';

describe('TL tts', () => {
  test('OpenAI speaks unless another is asked for', async (t) => {
    const bench = await mediaBench(t);
    const { path, text } = madeAt(await bench.run(tool, { text: 'Hello', voice: 'nova' }));
    assert.match(text, /^Made by openai\/gpt-4o-mini-tts: /);
    assert.deepEqual(await bench.read(path), MP3);
    const [seen] = bench.server.seen;
    assert.equal(seen?.line, 'POST /v1/audio/speech');
    assert.deepEqual(seen.body, {
      model: 'gpt-4o-mini-tts',
      input: 'Hello',
      voice: 'nova',
      response_format: 'mp3',
    });
    assert.equal(bench.reserved.get('openai/gpt-4o-mini-tts')?.usd, (15 * 5) / 1_000_000);
  });

  test('ElevenLabs speaks with the voice and the model that are asked for', async (t) => {
    const bench = await mediaBench(t);
    madeAt(
      await bench.run(tool, { text: 'Hello', provider: 'elevenlabs', voice: 'v/1', model: 'eleven_turbo' }),
    );
    const [seen] = bench.server.seen;
    assert.equal(seen?.line, 'POST /v1/text-to-speech/v%2F1?output_format=mp3_44100_128');
    assert.deepEqual(seen.body, { text: 'Hello', model_id: 'eleven_turbo' });
  });

  test('MiniMax speaks', async (t) => {
    const bench = await mediaBench(t);
    madeAt(await bench.run(tool, { text: 'Hello', provider: 'minimax' }));
    const [seen] = bench.server.seen;
    assert.equal(seen?.line, 'POST /v1/t2a_v2');
    assert.deepEqual(seen.body, {
      model: 'speech-2.8-hd',
      text: 'Hello',
      stream: false,
      output_format: 'hex',
      voice_setting: { voice_id: 'English_expressive_narrator', speed: 1, vol: 1, pitch: 0 },
      audio_setting: { format: 'mp3', sample_rate: 32_000, bitrate: 128_000, channel: 1 },
    });
  });

  test('Edge speaks without a key, and what is said cannot change how', async (t) => {
    const bench = await mediaBench(t, { env: ({ url }) => ({ EDGE_TTS_BASE_URL: url }) });
    const { path, text } = madeAt(await bench.run(tool, { text: 'A <break/> & more\u0007' }));
    assert.match(text, /^Made by edge\/readaloud: /);
    assert.deepEqual(await bench.read(path), MP3);
    const [opened, seen] = bench.server.seen;
    const query = new URL(opened?.line.split(' ')[1] ?? '', bench.server.url).searchParams;
    assert.match(query.get('Sec-MS-GEC') ?? '', /^[0-9A-F]{64}$/);
    assert.match(query.get('ConnectionId') ?? '', /^[0-9a-f]{32}$/);
    assert.match(opened?.headers.origin ?? '', /^chrome-extension:/);
    assert.match(
      seen?.body,
      /<voice name='en-US-AriaNeural'>.*>A &lt;break\/&gt; &amp; more <\/prosody><\/voice><\/speak>$/,
    );
    const row = bench.rows.find(({ purpose }) => purpose === 'media');
    assert.deepEqual([row?.host, row?.problem], [bench.server.place, null]);
    assert.ok((row?.bytes ?? 0) > MP3.length);
    const bad = await bench.run(tool, { text: 'x', voice: "'/><x Neural" });
    assert.ok(!bad.ok);
    assert.match(bad.message, /edge\/readaloud: it has no voice '\/><x Neural/);
  });

  test('R5 Edge’s address is held to the rules as any other', async (t) => {
    const bench = await mediaBench(t, { env: () => ({ EDGE_TTS_BASE_URL: 'http://169.254.169.254' }) });
    const result = await bench.run(tool, { text: 'x', provider: 'edge' });
    assert.ok(!result.ok);
    assert.match(result.message, /edge\/readaloud: http:\/\/169\.254\.169\.254\/\S* may not be asked/);
  });

  test('a text that is too long for one is spoken by the next, with a voice of its own', async (t) => {
    const bench = await mediaBench(t);
    const { text } = madeAt(await bench.run(tool, { text: 'x'.repeat(4_097), voice: 'nova' }));
    assert.match(
      text,
      /^Made by elevenlabs\/.*\n\[before it openai\/.*it speaks at most 4096 characters at once\]$/,
    );
    assert.match(bench.server.seen[0]?.line ?? '', /\/JBFqnCBsd6RMkjVDRZzb\?/);
  });

  test('one that is asked for alone is not replaced', async (t) => {
    const bench = await mediaBench(t);
    bench.server.failing.set('POST /v1/audio', 401);
    const result = await bench.run(tool, { text: 'Hello', provider: 'openai' });
    assert.deepEqual(result, {
      ok: false,
      code: 'ExecutionFailed',
      message: 'it was not made. openai/gpt-4o-mini-tts: it answered 401 (look at its key): not today',
    });
    assert.equal(bench.server.seen.length, 1);
  });
});
