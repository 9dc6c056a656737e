/** Follows the API's feeds over SSE and continues after a cut. It returns each event of a session once and in order. */
import { setTimeout as sleep } from 'node:timers/promises';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import type { StoredEvent } from '#domain/event.ts';
import { CliError } from './cli-error.ts';
import { ApiError, type Client } from './client.ts';

export interface FollowOptions {
  readonly client: Client;
  readonly sessionKey: string;
  /** Only events after this number are returned. */
  readonly after: number;
  readonly signal: AbortSignal;
  /** Called when the stream was cut (`reason`), or has returned (undefined). */
  readonly onConnection?: (reason: string | undefined) => void;
}

export interface FeedOptions extends Pick<FollowOptions, 'client' | 'signal' | 'onConnection'> {
  readonly path: string;
  /** The id after which the feed begins; without it, the feed begins where it usually does. */
  readonly after?: number;
}

/** One frame of a feed, which continues after the highest id that was read. */
export interface Frame {
  readonly id: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** The API sends a heartbeat at least every 15 s; three missed ones mean a dead connection. */
const SILENCE_MS = 50_000;
const MAX_PAUSE_MS = 5_000;
/** One event is far smaller; a line without end is not an event stream. */
const MAX_EVENT = 8 * 1024 * 1024;

/** Ends when `signal` aborts. Throws errors that do not pass: no such session, a refused key, trimmed events. */
export async function* followEvents(options: FollowOptions): AsyncGenerator<StoredEvent> {
  const { sessionKey, ...rest } = options;
  let last = options.after;
  for await (const { id, body } of followFeed({
    ...rest,
    path: `/v1/sessions/${encodeURIComponent(sessionKey)}/events`,
  })) {
    if (id <= last || typeof body['type'] !== 'string') continue;
    last = id;
    yield { ...(body as unknown as StoredEvent), id, data: (body['data'] ?? {}) as StoredEvent['data'] };
  }
}

/** Works as followEvents for any feed. A frame may come again after a cut, if the feed sends it again. */
export async function* followFeed(options: FeedOptions): AsyncGenerator<Frame> {
  const { signal, onConnection, after } = options;
  const place: FeedPosition = { last: after, failures: 0, retryMs: 1_000 };
  while (!signal.aborted) {
    try {
      yield* readConnection(options, place);
    } catch (error) {
      if (signal.aborted) return;
      if (isFinal(error)) throw error;
      const words = error instanceof CliError ? error.message : 'The connection to the API was lost.';
      if (place.failures === 0) onConnection?.(words);
      place.failures += 1;
    }
    const pause = Math.min(place.retryMs * 2 ** Math.max(0, place.failures - 1), MAX_PAUSE_MS);
    await sleep(pause, undefined, { signal }).catch(() => undefined);
  }
}

/** The reader's position, over all connections. */
interface FeedPosition {
  last: number | undefined;
  /** Consecutive failures. */
  failures: number;
  retryMs: number;
}

/** The frames of one connection, until it ends or becomes silent. */
async function* readConnection(options: FeedOptions, place: FeedPosition): AsyncGenerator<Frame> {
  const { client, path, signal, onConnection } = options;
  const silence = new AbortController();
  const timer = setTimeout(() => silence.abort(new CliError('The API has fallen silent.')), SILENCE_MS);
  try {
    const headers: Record<string, string> = place.last ? { 'last-event-id': String(place.last) } : {};
    const either = AbortSignal.any([signal, silence.signal]);
    const response = await client.stream(path, { after: place.last }, headers, either);
    if (place.failures > 0) onConnection?.(undefined);
    place.failures = 0;
    const received = {
      bytes: () => timer.refresh(),
      retry: (ms: number) => (place.retryMs = Math.min(ms, MAX_PAUSE_MS)),
    };
    for await (const frame of readFrames(response, received)) {
      place.last = Math.max(place.last ?? 0, frame.id);
      yield frame;
    }
  } finally {
    clearTimeout(timer);
    // Closes the connection when the reader stops in the middle.
    silence.abort();
  }
}

function isFinal(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false;
  return error.status < 500 && error.status !== 429 && error.status !== 408;
}

/** The frames of an event stream. Throws a CliError when it is none: not JSON, or an event without end. */
export async function* readFrames(
  { body }: Response,
  received?: { bytes(): void; retry(ms: number): void },
): AsyncGenerator<Frame> {
  const decoder = new TextDecoder();
  const events: EventSourceMessage[] = [];
  const parser = createParser({
    maxBufferSize: MAX_EVENT,
    onEvent: (event) => events.push(event),
    onRetry: received?.retry,
    onError: ({ type }) => {
      if (type === 'max-buffer-size-exceeded')
        throw new CliError('An event of more than 8 MB came; the stream is not an event feed.');
    },
  });
  for await (const chunk of body ?? []) {
    received?.bytes();
    parser.feed(decoder.decode(chunk, { stream: true }));
    for (const event of events.splice(0)) {
      const frame = readFrame(event);
      if (frame) yield frame;
    }
  }
}

function readFrame({ id: named, data }: EventSourceMessage): Frame | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(data);
  } catch {
    throw new CliError('The event feed sent something that is not JSON.');
  }
  if (typeof parsed !== 'object' || parsed === null) return undefined;
  const body = parsed as Frame['body'];
  const id = Number(named ?? body['id']);
  return Number.isSafeInteger(id) ? { id, body } : undefined;
}
