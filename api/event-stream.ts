/** One reader of a session's feed (IN-2): replays from the table after an id, then follows. */
import type { ServerResponse } from 'node:http';
import { readEvents } from '#store/event-store.ts';
import type { StoredEvent } from '#domain/event.ts';
import type { ApiDeps } from './deps.ts';
import { streamSse } from './sse-stream.ts';

const PAGE = 200;

export interface StreamOptions {
  readonly tenant: string;
  readonly session: string;
  readonly after: number;
  /** Aborted when the client goes away or the server stops. */
  readonly signal: AbortSignal;
  readonly onError: (error: unknown) => void;
}

/** Resolves when the stream is over; never throws. The head has been written. */
export function streamEvents(
  { pool, feed }: Pick<ApiDeps, 'pool' | 'feed'>,
  response: ServerResponse,
  { tenant, session, after, signal, onError }: StreamOptions,
): Promise<void> {
  let last = after;
  return streamSse(response, {
    signal,
    onError,
    subscribe: (wake) => feed.subscribe(tenant, session, wake),
    async sendNew(write) {
      for (let isMore = true; isMore && !signal.aborted; ) {
        const events = await readEvents(pool, tenant, session, last, PAGE);
        for (const event of events) {
          await write(format(event));
          last = event.id;
        }
        isMore = events.length === PAGE;
      }
    },
  });
}

function format(event: StoredEvent): string {
  return `id: ${event.id}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}
