/**
 * Answers with server-sent events: a limited number for each key, with our headers, ended when the reader disconnects
 * or the server stops.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Failure } from '#domain/errors.ts';
import { keysInForce } from '#store/api-key-store.ts';
import { callerOf, type Credential } from './auth.ts';
import type { Api, ApiDeps } from '../deps.ts';
import { type SseSource, streamSse } from './sse-stream.ts';

/** A browser has a few, a console for a team some dozens. */
const MAX_STREAMS_PER_KEY = 200;

/** A stream ends at most this long after its key, or what stands for the key, is no longer valid. */
const KEY_CHECK_MS = 5_000;

export interface SseReplies {
  /**
   * Resolves when the stream ends: the reader disconnected, the server stops, or `key` (by default the caller's) is no
   * longer valid. Throws RateLimited before anything is written.
   */
  open(request: FastifyRequest, reply: FastifyReply, source: SseSource, key?: string): Promise<void>;
}

/** The streams of one key or credential, which end when it is no longer valid. */
interface Holder {
  streams: number;
  readonly tenant: string;
  /** The caller's key. */
  readonly keyId: string;
  /** The key whose end ends the streams. */
  readonly id: string;
  readonly credential: Credential | null;
  readonly ending: AbortController;
}

export function createSseReplies(app: Api, { metrics, pool }: Pick<ApiDeps, 'metrics' | 'pool'>): SseReplies {
  const holders = new Map<string, Holder>();

  let timer: NodeJS.Timeout | undefined;

  async function probe(): Promise<void> {
    const held = [...holders.values()];
    const valid = new Set((await keysInForce(pool, held)).map(({ tenant, id }) => `${tenant}/${id}`));
    await Promise.all(
      held.map(async ({ tenant, id, credential, ending }) => {
        if (!valid.has(`${tenant}/${id}`) || (await credential?.isValid()) === false) ending.abort();
      }),
    );
  }

  /** The streams of the key and of all credentials that stand for it. */
  function streamsOf(tenant: string, keyId: string): number {
    let streams = 0;
    for (const holder of holders.values())
      if (holder.tenant === tenant && holder.keyId === keyId) streams += holder.streams;
    return streams;
  }

  function hold(name: string, held: Omit<Holder, 'streams' | 'ending'>): Holder {
    const made = { ...held, streams: 0, ending: new AbortController() };
    holders.set(name, made);
    // While Postgres is away, nothing new is sent either.
    timer ??= setInterval(() => void probe().catch(() => undefined), KEY_CHECK_MS);
    return made;
  }

  function release(name: string): void {
    holders.delete(name);
    if (holders.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  return {
    async open(request, reply, source, key) {
      const { tenant, keyId } = callerOf(request);
      const { credential } = request;
      const name = [tenant, keyId, ...(credential ? [credential.id] : [])].join('/');
      const open = streamsOf(tenant, keyId);
      if (open >= MAX_STREAMS_PER_KEY)
        throw new Failure('RateLimited', `This key has ${open} event streams open; close some`, {
          retry_after: 5,
        });
      const holder = holders.get(name) ?? hold(name, { tenant, keyId, id: key ?? keyId, credential });
      const gone = new AbortController();
      reply.raw.once('close', () => gone.abort());
      reply.raw.on('error', () => gone.abort());
      holder.streams += 1;
      metrics.streamOpened();
      reply.hijack();
      try {
        reply.raw.writeHead(200, {
          ...headersOf(reply.getHeaders()),
          'content-type': 'text/event-stream; charset=utf-8',
          'x-accel-buffering': 'no',
        });
        const reasons = [gone.signal, holder.ending.signal, app.stopping];
        const ends = AbortSignal.any(source.ended ? [...reasons, source.ended] : reasons);
        await streamSse(reply.raw, source, ends, (error) =>
          request.log.warn({ err: error }, 'an event stream ended early'),
        );
      } finally {
        metrics.streamClosed();
        holder.streams -= 1;
        if (holder.streams === 0) release(name);
      }
    },
  };
}

/** Browsers send back the last `id` they saw; anything else was not sent by us. */
export function lastEventId(header: string | string[] | undefined): number | undefined {
  if (typeof header !== 'string' || header === '') return undefined;
  const id = Number(header);
  if (!/^\d{1,16}$/.test(header) || !Number.isSafeInteger(id))
    throw new Failure('InvalidInput', 'Last-Event-ID is not an id of this feed');
  return id;
}

function headersOf(headers: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      typeof value === 'string' || typeof value === 'number' ? [[name, String(value)]] : [],
    ),
  );
}
