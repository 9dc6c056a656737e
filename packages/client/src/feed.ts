/**
 * Follows a stream of server-sent events. After a cut it continues behind the last event that it has returned, so that
 * none is missing and none comes twice.
 */
import { createParser } from 'eventsource-parser';
import { TempoClawError } from './error.ts';
import { pauseAfter, sleep } from './http.ts';

export interface FeedOptions {
  /** Only events behind this id are returned. */
  readonly after?: number | undefined;
  /** Ends the feed, without an error. */
  readonly signal?: AbortSignal | undefined;
  /** Called when the feed is connected, and with the reason when it was cut and will be connected again. */
  readonly onConnection?: ((cut: unknown) => void) | undefined;
}

export interface FeedSource extends FeedOptions {
  /** Opens the stream behind an id. It rejects with a TempoClawError. */
  open(after: number | undefined, signal: AbortSignal): Promise<Response>;
  /** False where an event may come again, or has no id. */
  readonly isNumbered?: boolean;
  /** Waits before the next try, and may end early; by default, a timer. */
  readonly sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
}

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5_000;
/** The server sends at least a comment every 15 seconds. */
const SILENCE_MS = 35_000;
/** Characters of one event, which is far smaller. A line without end is no event. */
const MAX_EVENT = 8 * 1024 * 1024;

/** Returns the events of each read together. Throws what does not pass: no such session, a refused key, trimmed events. */
export async function* followFeed<Event>(source: FeedSource): AsyncGenerator<readonly Event[], void> {
  const { signal, onConnection } = source;
  const place = { last: source.after, pause: FIRST_PAUSE_MS };
  for (;;) {
    if (signal?.aborted) return;
    let cut: unknown;
    try {
      yield* readConnection<Event>(source, place);
    } catch (error) {
      if (signal?.aborted) return;
      cut = error;
    }
    if (cut !== undefined && !passes(cut)) throw cut;
    onConnection?.(cut ?? new TempoClawError('Unreachable', 'The server has ended the stream'));
    const jittered = place.pause * (0.5 + Math.random() / 2);
    const shortest = cut instanceof TempoClawError ? (cut.retryAfterMs ?? 0) : 0;
    await (source.sleep ?? sleep)(Math.max(jittered, shortest), signal);
    place.pause = Math.min(place.pause * 2, LONGEST_PAUSE_MS);
  }
}

function passes(cut: unknown): boolean {
  return pauseAfter(cut, 'GET', 0) !== undefined || (cut instanceof TempoClawError && cut.status >= 500);
}

/** The reader's place, over all connections. */
interface Place {
  last: number | undefined;
  pause: number;
}

async function* readConnection<Event>(
  { open, signal, onConnection, isNumbered = true }: FeedSource,
  place: Place,
): AsyncGenerator<readonly Event[], void> {
  const ending = new AbortController();
  const end = (): void =>
    ending.abort(new TempoClawError('Unreachable', 'The event stream has fallen silent'));
  signal?.addEventListener('abort', end);
  let silence = setTimeout(end, SILENCE_MS);
  try {
    const response = await open(place.last, ending.signal);
    if (!response.headers.get('content-type')?.startsWith('text/event-stream') || !response.body)
      throw new TempoClawError('InvalidAnswer', 'The answer is no event stream', { status: response.status });
    place.pause = FIRST_PAUSE_MS;
    onConnection?.(undefined);
    let events: Event[] = [];
    const parser = createParser({
      maxBufferSize: MAX_EVENT,
      onEvent({ id, data }) {
        const number = Number(id);
        if (isNumbered && !Number.isSafeInteger(number)) throw unreadable('An event has no id');
        if (isNumbered && number <= (place.last ?? -1)) return;
        events.push(parseEvent(data) as Event);
        if (Number.isSafeInteger(number)) place.last = Math.max(place.last ?? 0, number);
      },
      onError({ type }) {
        if (type === 'max-buffer-size-exceeded') throw unreadable('An event is larger than 8 MB');
      },
    });
    for await (const text of readText(response.body)) {
      // A reader that takes its time is no silence of the server.
      clearTimeout(silence);
      parser.feed(text);
      if (events.length > 0) yield events;
      events = [];
      silence = setTimeout(end, SILENCE_MS);
    }
  } catch (error) {
    throw error instanceof TempoClawError
      ? error
      : new TempoClawError('Unreachable', 'The connection was lost', { cause: error });
  } finally {
    clearTimeout(silence);
    signal?.removeEventListener('abort', end);
    // Closes the connection when its reader stops in the middle.
    end();
  }
}

/** Cancels the body when its reader stops. A browser may have no iterator of its own for it. */
async function* readText(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      yield decoder.decode(value, { stream: true });
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

function parseEvent(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    throw unreadable('An event is not JSON');
  }
}

function unreadable(message: string): TempoClawError {
  return new TempoClawError('InvalidAnswer', message);
}
