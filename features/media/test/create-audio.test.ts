/** create_audio: makes music with MiniMax and effects with ElevenLabs, as files. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { tool } from '../tools/create-audio.ts';
import { madeAt, mediaBench } from './media-bench.ts';
import { MP3 } from '#test/support/media-server.ts';

describe('TL create_audio', () => {
  test('has MiniMax make music, sung where there are lyrics', async (t) => {
    const bench = await mediaBench(t);
    const { path, text } = madeAt(await bench.run(tool, { prompt: 'Slow jazz', lyrics: '[Verse]\nOh' }));
    assert.match(path, /^generated\/\d{4}-\d\d-\d\d\/music-0123456789ab\.mp3$/);
    assert.match(text, /^Made by minimax\/music-2\.6: /);
    assert.deepEqual(await bench.read(path), MP3);
    const audio_setting = { format: 'mp3', sample_rate: 44_100, bitrate: 256_000 };
    const request = { model: 'music-2.6', prompt: 'Slow jazz', output_format: 'hex', audio_setting };
    await bench.run(tool, { prompt: 'Slow jazz', lyrics: '[Verse]\nOh', instrumental: true });
    await bench.run(tool, { prompt: 'Slow jazz' });
    assert.deepEqual(
      bench.server.seen.map(({ line, body }) => [line, body]),
      [
        ['POST /v1/music_generation', { ...request, lyrics: '[Verse]\nOh', is_instrumental: false }],
        ['POST /v1/music_generation', { ...request, is_instrumental: true }],
        ['POST /v1/music_generation', { ...request, is_instrumental: true }],
      ],
    );
  });

  test('DU-7 a price that is not known counts as what was held', async (t) => {
    const bench = await mediaBench(t);
    await bench.run(tool, { prompt: 'Slow jazz' });
    assert.deepEqual([...bench.reserved], [['minimax/music-2.6', { tokens: 0, usd: undefined }]]);
    assert.deepEqual([...bench.settled], [['minimax/music-2.6', { attempt: 1 }]]);
  });

  test('has ElevenLabs make a sound effect of some seconds', async (t) => {
    const bench = await mediaBench(t);
    const { path } = madeAt(
      await bench.run(tool, { prompt: 'A door', type: 'sound_effect', duration: 2, filename_hint: 'door' }),
    );
    assert.match(path, /\/door-0123456789ab\.mp3$/);
    const [seen] = bench.server.seen;
    assert.equal(seen?.line, 'POST /v1/sound-generation?output_format=mp3_44100_128');
    assert.equal(seen.headers['xi-api-key'], 'key-of-elevenlabs-1234');
    assert.deepEqual(seen.body, {
      text: 'A door',
      duration_seconds: 2,
      model_id: 'eleven_text_to_sound_v2',
    });
  });

  test('says what is missing, and refuses a duration that music cannot have', async (t) => {
    const bench = await mediaBench(t, { env: () => ({}) });
    const effect = await bench.run(tool, { prompt: 'A door', type: 'sound_effect' });
    assert.ok(!effect.ok);
    assert.match(effect.message, /no key is set: media\.elevenlabs\.apiKey, or ELEVENLABS_API_KEY$/);
    const music = await bench.run(tool, { prompt: 'Jazz', duration: 20 });
    assert.ok(!music.ok);
    assert.match(music.message, /^duration: music has none to choose/);
  });

  test('what is no sound is not kept as one, and it is said that it may cost', async (t) => {
    const bench = await mediaBench(t);
    bench.server.answers.set('POST /v1/sound-generation', Buffer.from('<html>sorry</html>'));
    const result = await bench.run(tool, { prompt: 'A door', type: 'sound_effect' });
    assert.ok(!result.ok);
    assert.match(
      result.message,
      /sent 18 bytes of something unknown, which is no sound_effect; it may be charged for$/,
    );
    assert.equal(bench.settled.size, 0);
  });
});
