/**
 * One server that acts as each provider of media: OpenAI, Gemini, MiniMax, DashScope, ElevenLabs, and Edge's reader.
 * Its jobs run until `finish`; each is counted when it is accepted.
 */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { pngOf } from './image-bytes.ts';
import type { Killable } from './worker-process.ts';

export const PNG = pngOf(64, 48);
export const MP3 = Buffer.concat([Buffer.from([0xff, 0xfb, 0x90, 0x64]), Buffer.alloc(1_000)]);
export const MP4 = Buffer.concat([
  Buffer.from([0, 0, 0, 24]),
  Buffer.from('ftypisom\0\0\0\0isomiso2'),
  Buffer.alloc(1_000),
]);

interface Job {
  readonly id: string;
  readonly kind: 'video' | 'image';
  readonly prompt: string;
  readonly at: number;
  /** True for MiniMax's API v1. */
  readonly isOld: boolean;
  state: 'queued' | 'running' | 'done' | 'failed' | 'cancelled';
}

export interface MediaRequestSeen {
  readonly line: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: any;
}

export interface MediaServer {
  readonly url: string;
  /** `127.0.0.1:PORT`. */
  readonly place: string;
  readonly seen: MediaRequestSeen[];
  readonly jobs: Map<string, Job>;
  /** Lines with this beginning, in the order in which they came. */
  lines(beginning: string): string[];
  /** Requests whose lines begin with the key get this status, and no result. */
  readonly failing: Map<string, number>;
  /** The same for the answers' bodies. */
  readonly answers: Map<string, Buffer>;
  /** Awaited before a request is done, and when it is done but not answered. */
  onRequest: ((line: string, when: 'before' | 'after') => Promise<void> | void) | undefined;
  /**
   * Kills the worker when a request with this beginning is there (before it is done, or before it is answered), and
   * starts it again.
   */
  killAt(
    worker: Pick<Killable, 'kill' | 'start'>,
    beginning: string,
    when: 'before' | 'after',
  ): Promise<void>;
  /** Ends jobs that run, and later ones. */
  finish(state?: 'done' | 'failed'): void;
  /** The settings of a worker that calls it for everything. */
  readonly env: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

export async function startMediaServer(): Promise<MediaServer> {
  const seen: MediaRequestSeen[] = [];
  const jobs = new Map<string, Job>();
  const failing = new Map<string, number>();
  const answers = new Map<string, Buffer>();
  let ending: 'done' | 'failed' | undefined;
  const hooks: Pick<MediaServer, 'onRequest'> = { onRequest: undefined };

  const take = (kind: Job['kind'], prompt: string, isOld = false): Job => {
    const id = `job-${jobs.size + 1}`;
    const job: Job = { id, kind, prompt, at: Date.now(), isOld, state: ending ?? 'queued' };
    jobs.set(id, job);
    return job;
  };

  async function answer(request: IncomingMessage, reply: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const line = `${request.method} ${request.url}`;
    const body = text === '' ? undefined : JSON.parse(text);
    seen.push({ line, headers: request.headers, body });
    await hooks.onRequest?.(line, 'before');
    const [, status] = [...failing].find(([beginning]) => line.startsWith(beginning)) ?? [];
    if (status !== undefined)
      return json(reply, { error: { message: 'not today' }, message: 'not today' }, status);
    const [, bytes] = [...answers].find(([beginning]) => line.startsWith(beginning)) ?? [];
    const done = bytes ?? perform(line, new URL(request.url ?? '/', url), body);
    await hooks.onRequest?.(line, 'after');
    if (Buffer.isBuffer(done)) reply.end(done);
    else json(reply, done ?? { message: `nothing at ${line}` }, done === undefined ? 404 : 200);
  }

  function perform(line: string, { pathname, searchParams }: URL, body: any): unknown {
    const last = decodeURIComponent(pathname.split('/').at(-1) ?? '');
    const hex = { data: { audio: MP3.toString('hex'), status: 2 }, base_resp: { status_code: 0 } };
    if (line.startsWith('POST /v1/images/generations'))
      return { data: [{ b64_json: PNG.toString('base64') }] };
    if (/^POST \/v1beta\/models\/[^/]+:generateContent/.test(line))
      return {
        candidates: [
          {
            content: { parts: [{ inlineData: { mimeType: 'image/png', data: PNG.toString('base64') } }] },
            finishReason: 'STOP',
          },
        ],
      };
    if (line.startsWith('POST /v1/image_generation'))
      return { data: { image_base64: [PNG.toString('base64')] }, base_resp: { status_code: 0 } };
    if (/^POST \/v1\/(?:music_generation|t2a_v2)/.test(line)) return hex;
    if (/^POST \/v1\/(?:audio\/speech|sound-generation|text-to-speech\/)/.test(line)) return MP3;
    if (line.startsWith('POST /v2/video_generation'))
      return { task_id: take('video', body.content[0].text).id };
    if (line.startsWith('POST /api/v1/services/aigc/text2image/image-synthesis'))
      return { output: { task_id: take('image', body.input.prompt).id, task_status: 'PENDING' } };
    if (line.startsWith('GET /files/')) return last.startsWith('video') ? MP4 : PNG;
    if (line.startsWith('GET /api/v1/tasks/?'))
      return {
        data: [...jobs.values()]
          .filter(({ kind }) => kind === 'image' && searchParams.get('model_name') !== null)
          .map(({ id, at }) => ({ task_id: id, gmt_create: at })),
      };
    if (line.startsWith('POST /v1/video_generation'))
      return { task_id: take('video', body.prompt, true).id, base_resp: { status_code: 0 } };
    return found(line, pathname, searchParams, last);
  }

  function found(line: string, pathname: string, search: URLSearchParams, last: string): unknown {
    const file = search.get('file_id');
    if (file !== null)
      return { file: { download_url: `${url}/files/video-${file}` }, base_resp: { status_code: 0 } };
    const id =
      search.get('task_id') ?? (line.endsWith('/cancel') ? (pathname.split('/').at(-2) ?? '') : last);
    const job = jobs.get(id);
    return job && ofJob(line, job);
  }

  function ofJob(line: string, job: Job): unknown {
    const isCancel = line.startsWith('DELETE') || line.endsWith('/cancel');
    if (isCancel && job.state !== 'queued') return undefined;
    if (isCancel) job.state = 'cancelled';
    if (job.isOld) {
      const status = { queued: 'Queueing', running: 'Processing', done: 'Success' }[job.state as 'done'];
      return { task_id: job.id, status: status ?? 'Fail', file_id: job.id, base_resp: { status_code: 0 } };
    }
    if (job.kind === 'video') {
      const status = { done: 'succeeded' }[job.state as 'done'] ?? job.state;
      const content = job.state === 'done' ? { url: `${url}/files/video-${job.id}` } : undefined;
      const error = job.state === 'failed' ? { message: 'it is too scary' } : undefined;
      return { task: { id: job.id, status, content, error, usage: { output_seconds: 4 } } };
    }
    const status = {
      queued: 'PENDING',
      running: 'RUNNING',
      done: 'SUCCEEDED',
      failed: 'FAILED',
      cancelled: 'CANCELED',
    };
    const results = [{ orig_prompt: job.prompt, url: `${url}/files/image-${job.id}` }];
    return {
      output: { task_id: job.id, task_status: status[job.state], ...(job.state === 'done' && { results }) },
    };
  }

  const server = createServer((request, reply) => {
    // The client may be killed in the meantime.
    answer(request, reply).catch(() => reply.destroy());
  });
  const sockets = new WebSocketServer({ server });
  sockets.on('connection', (socket, request) => {
    seen.push({ line: `WS ${request.url}`, headers: request.headers, body: undefined });
    speak(socket, (ssml) => seen.push({ line: 'SSML', headers: {}, body: ssml }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const place = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const url = `http://${place}`;

  return Object.assign(hooks, {
    url,
    place,
    seen,
    jobs,
    failing,
    answers,
    lines: (beginning: string) => seen.map(({ line }) => line).filter((line) => line.startsWith(beginning)),
    async killAt(
      worker: Pick<Killable, 'kill' | 'start'>,
      beginning: string,
      when: 'before' | 'after',
    ): Promise<void> {
      const there = Promise.withResolvers<void>();
      const gone = Promise.withResolvers<void>();
      hooks.onRequest = (line, now) => {
        if (!line.startsWith(beginning) || now !== when) return;
        there.resolve();
        return gone.promise;
      };
      await there.promise;
      await worker.kill();
      hooks.onRequest = undefined;
      gone.resolve();
      await worker.start();
    },
    finish(state: 'done' | 'failed' = 'done') {
      ending = state;
      for (const job of jobs.values())
        if (job.state === 'queued' || job.state === 'running') job.state = state;
    },
    env: {
      OPENAI_API_KEY: 'key-of-openai-1234',
      OPENAI_BASE_URL: url,
      GEMINI_API_KEY: 'key-of-gemini-1234',
      GEMINI_BASE_URL: url,
      MINIMAX_API_KEY: 'key-of-minimax-1234',
      MINIMAX_BASE_URL: url,
      DASHSCOPE_API_KEY: 'key-of-dashscope-1234',
      DASHSCOPE_BASE_URL: url,
      ELEVENLABS_API_KEY: 'key-of-elevenlabs-1234',
      ELEVENLABS_BASE_URL: url,
      EDGE_TTS_BASE_URL: url,
    },
    async close() {
      for (const socket of sockets.clients) socket.terminate();
      sockets.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}

function json(reply: ServerResponse, body: unknown, status = 200): void {
  reply.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** Answers as Edge's service does: turns of pieces, each with its headers before it. */
function speak(socket: WebSocket, received: (ssml: string) => void): void {
  socket.on('message', (data) => {
    const [head = '', body = ''] = String(data).split('\r\n\r\n');
    if (!/^Path:ssml$/m.test(head)) return;
    received(body);
    socket.send('X-RequestId:1\r\nPath:turn.start\r\n\r\n{}');
    for (const piece of [MP3.subarray(0, 500), MP3.subarray(500)]) {
      const headers = Buffer.from('X-RequestId:1\r\nContent-Type:audio/mpeg\r\nPath:audio\r\n');
      const length = Buffer.alloc(2);
      length.writeUInt16BE(headers.length);
      socket.send(Buffer.concat([length, headers, piece]));
    }
    socket.send('X-RequestId:1\r\nPath:turn.end\r\n\r\n{}');
  });
}
