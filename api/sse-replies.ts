/** Answers of server-sent events: so many a key, with our headers, ended when the reader or the server goes. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Failure } from '#domain/errors.ts';
import { callerOf } from './auth.ts';
import type { Api, ApiDeps } from './deps.ts';
import { type SseSource, streamSse } from './sse-stream.ts';

/** A browser has a handful, a console for a team some dozens. */
const MAX_STREAMS_PER_KEY = 200;

export interface SseReplies {
  /** Resolves when the stream is over. Throws RateLimited, before anything is written. */
  open(request: FastifyRequest, reply: FastifyReply, source: SseSource): Promise<void>;
}

export function createSseReplies(app: Api, deps: Pick<ApiDeps, 'metrics'>): SseReplies {
  const open = new Map<string, number>();
  return {
    async open(request, reply, source) {
      const caller = callerOf(request);
      const holder = `${caller.tenant}/${caller.keyId}`;
      const streams = open.get(holder) ?? 0;
      if (streams >= MAX_STREAMS_PER_KEY)
        throw new Failure('RateLimited', `This key has ${streams} event streams open; close some`, {
          retry_after: 5,
        });
      const gone = new AbortController();
      reply.raw.once('close', () => gone.abort());
      reply.raw.on('error', () => gone.abort());
      open.set(holder, streams + 1);
      deps.metrics.streamOpened();
      reply.hijack();
      try {
        reply.raw.writeHead(200, {
          ...headersOf(reply.getHeaders()),
          'content-type': 'text/event-stream; charset=utf-8',
          'x-accel-buffering': 'no',
        });
        await streamSse(reply.raw, source, AbortSignal.any([gone.signal, app.stopping]), (error) =>
          request.log.warn({ err: error }, 'an event stream ended early'),
        );
      } finally {
        deps.metrics.streamClosed();
        const left = (open.get(holder) ?? 1) - 1;
        if (left > 0) open.set(holder, left);
        else open.delete(holder);
      }
    },
  };
}

/** Browsers send back the last `id` they saw; anything else was not ours. */
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
