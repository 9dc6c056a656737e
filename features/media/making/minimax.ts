/**
 * MiniMax makes pictures, music and speech in one answer (its API v1), and videos as jobs. Hailuo and older models use
 * v1, later ones v2, where a job that has not started can be cancelled. Its list of jobs does not contain their
 * requests. Therefore none is assumed to be a lost order's, because it may be another tenant's.
 */
import {
  type JobState,
  type MediaAccess,
  type MediaAsk,
  type MediaMaker,
  MediaProblem,
  sendForJson,
  textAt,
  valueAt,
} from './media-maker.ts';

const VOICE = 'English_expressive_narrator';
const MP3 = { format: 'mp3', sample_rate: 44_100, bitrate: 256_000 };
const RESOLUTION = '768P';
/** Models whose videos v1 makes, and the prefix of the ids of its jobs here. */
const OF_V1 = /^(?:MiniMax-Hailuo|[IST]2V-|video-01)/i;
const V1_JOB = 'v1/';

export const minimax: MediaMaker = {
  async order(access, ask) {
    const { kind } = ask.request;
    if (kind === 'video' && OF_V1.test(ask.model)) {
      const ordered = await sendForJson(access, '/v1/video_generation', { body: videoOfV1(ask) });
      return { job: V1_JOB + textAt(ordered, 'task_id') };
    }
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
      if (job.startsWith(V1_JOB)) return jobStateV1(access, job.slice(V1_JOB.length));
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
      if (job.startsWith(V1_JOB)) throw new MediaProblem('refused', 'its API v1 takes no job back');
      await sendForJson(access, `/v2/video_generation/${encodeURIComponent(job)}`, { method: 'DELETE' });
    },
  },
};

async function jobStateV1(access: MediaAccess, job: string): Promise<JobState> {
  const task = await sendForJson(access, `/v1/query/video_generation?task_id=${encodeURIComponent(job)}`);
  const status = textAt(task, 'status');
  if (status === 'Fail') return { failed: 'its job has failed' };
  if (status !== 'Success') return 'running';
  const file = encodeURIComponent(textAt(task, 'file_id'));
  return {
    url: textAt(await sendForJson(access, `/v1/files/retrieve?file_id=${file}`), 'file', 'download_url'),
  };
}

/** Its videos have 6 or 10 seconds, and one ratio. */
function videoOfV1({ model, request: { prompt, seconds = 6, image } }: MediaAsk): object {
  return { model, prompt, duration: seconds <= 6 ? 6 : 10, first_frame_image: image && dataUrl(image) };
}

function dataUrl({ type, bytes }: NonNullable<MediaAsk['request']['image']>): string {
  return `data:${type};base64,${Buffer.from(bytes).toString('base64')}`;
}

function videoOf({ model, request: { prompt, seconds, ratio, image } }: MediaAsk): object {
  const url = image && dataUrl(image);
  const first = url === undefined ? [] : [{ type: 'image_url', image_url: { url }, role: 'first_frame' }];
  return {
    model,
    content: [{ type: 'text', text: prompt }, ...first],
    resolution: RESOLUTION,
    duration: seconds,
    // A picture has its own ratio.
    ratio: image ? 'adaptive' : ratio,
  };
}

function imageOf({ model, request: { prompt, ratio = '1:1' } }: MediaAsk): object {
  return { model, prompt, aspect_ratio: ratio, n: 1, response_format: 'base64' };
}

/** It does not write lyrics: without them, the music is instrumental. */
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
