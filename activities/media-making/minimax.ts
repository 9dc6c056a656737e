/**
 * MiniMax: pictures, music and speech in one answer (its API v1), videos as jobs (v2). A job that is not begun can be cancelled. Its list of
 * jobs says nothing of what was asked for, so that none is taken for a lost order's: it may be another tenant's.
 */
import { type MediaAsk, type MediaMaker, sendForJson, textAt, valueAt } from './media-maker.ts';

const VOICE = 'English_expressive_narrator';
const MP3 = { format: 'mp3', sample_rate: 44_100, bitrate: 256_000 };
const RESOLUTION = '768P';

export const minimax: MediaMaker = {
  async order(access, ask) {
    const { kind } = ask.request;
    if (kind === 'video') {
      const ordered = await sendForJson(access, '/v2/video_generation', { body: videoOf(ask) });
      return { job: textAt(ordered, 'task_id') };
    }
    if (kind === 'image') {
      const made = await sendForJson(access, '/v1/image_generation', { body: imageOf(ask) });
      return { bytes: Buffer.from(textAt(made, 'data', 'image_base64', 0), 'base64') };
    }
    const [path, body] =
      kind === 'music' ? ['/v1/music_generation', musicOf(ask)] : ['/v1/t2a_v2', speechOf(ask)];
    return { bytes: Buffer.from(textAt(await sendForJson(access, path, { body }), 'data', 'audio'), 'hex') };
  },

  jobs: {
    kinds: ['video'],

    async look(access, job) {
      const { task } = await sendForJson(access, `/v2/query/video_generation/${encodeURIComponent(job)}`);
      const status = textAt(task, 'status');
      if (status === 'queued' || status === 'running') return 'running';
      if (status !== 'succeeded')
        return { failed: `its job has ${status}: ${String(valueAt(task, 'error', 'message') ?? '')}` };
      const seconds = valueAt(task, 'usage', 'output_seconds');
      return {
        url: textAt(task, 'content', 'url'),
        seconds: typeof seconds === 'number' ? seconds : undefined,
      };
    },

    async cancel(access, job) {
      await sendForJson(access, `/v2/video_generation/${encodeURIComponent(job)}`, { method: 'DELETE' });
    },
  },
};

function videoOf({ model, request: { prompt, seconds, ratio, image } }: MediaAsk): object {
  const url = image && `data:${image.type};base64,${Buffer.from(image.bytes).toString('base64')}`;
  const first = url === undefined ? [] : [{ type: 'image_url', image_url: { url }, role: 'first_frame' }];
  return {
    model,
    content: [{ type: 'text', text: prompt }, ...first],
    resolution: RESOLUTION,
    duration: seconds,
    // A picture has its own.
    ratio: image ? 'adaptive' : ratio,
  };
}

function imageOf({ model, request: { prompt, ratio = '1:1' } }: MediaAsk): object {
  return { model, prompt, aspect_ratio: ratio, n: 1, response_format: 'base64' };
}

/** It has no words of its own: without lyrics it plays. */
function musicOf({ model, request: { prompt, lyrics, instrumental } }: MediaAsk): object {
  const sung = instrumental === true ? undefined : lyrics;
  return {
    model,
    prompt,
    lyrics: sung,
    is_instrumental: sung === undefined,
    output_format: 'hex',
    audio_setting: MP3,
  };
}

function speechOf({ model, request: { prompt, voice = VOICE } }: MediaAsk): object {
  return {
    model,
    text: prompt,
    stream: false,
    output_format: 'hex',
    voice_setting: { voice_id: voice, speed: 1, vol: 1, pitch: 0 },
    audio_setting: { ...MP3, sample_rate: 32_000, bitrate: 128_000, channel: 1 },
  };
}
