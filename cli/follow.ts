/** Follows the API's feeds over SSE and goes on after a cut; of a session's, each event is seen once and in order. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { StoredEvent } from '#domain/event.ts';
import { CliError } from './cli-error.ts';
import { ApiError, type Client } from './client.ts';

export interface FollowOptions {
  readonly client: Client;
  readonly sessionKey: string;
  /** Events after this number. */
  readonly after: number;
  readonly signal: AbortSignal;
  /** The stream was cut (`reason`), or is back (undefined). */
  readonly onConnection?: (reason: string | undefined) => void;
}

export interface FeedOptions extends Pick<FollowOptions, 'client' | 'signal' | 'onConnection'> {
  readonly path: string;
  /** Begins after this one; without it wherever the feed begins by itself. */
  readonly after?: number;
}

/** One frame of a feed, which goes on after the highest id that was read. */
export interface Frame {
  readonly id: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** The API sends a heartbeat at least every 15 s; three missed ones mean a dead connection. */
const SILENCE_MS = 50_000;
const MAX_PAUSE_MS = 5_000;
/** One event's data is far smaller; a line without end is not an event stream. */
const MAX_BLOCK = 8 * 1024 * 1024;

/** Ends when `signal` aborts. Throws for what will not get better: no such session, a refused key, trimmed events. */
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

/** As followEvents, of any feed; a frame may come again after a cut, where the feed gives it again. */
export async function* followFeed(options: FeedOptions): AsyncGenerator<Frame> {
  const { signal, onConnection, after } = options;
  const place: Place = { last: after, failures: 0, retryMs: 1_000 };
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

/** Where the reader stands, over all connections. */
interface Place {
  last: number | undefined;
  /** In a row. */
  failures: number;
  retryMs: number;
}

/** The frames of one connection, until it ends or falls silent. */
async function* readConnection(options: FeedOptions, place: Place): AsyncGenerator<Frame> {
  const { client, path, signal, onConnection } = options;
  const silence = new AbortController();
  const timer = setTimeout(() => silence.abort(new CliError('The API has fallen silent.')), SILENCE_MS);
  try {
    const headers: Record<string, string> = place.last ? { 'last-event-id': String(place.last) } : {};
    const either = AbortSignal.any([signal, silence.signal]);
    const response = await client.stream(path, { after: place.last }, headers, either);
    if (place.failures > 0) onConnection?.(undefined);
    place.failures = 0;
    for await (const block of readBlocks(response, () => timer.refresh())) {
      if (block.retry !== undefined) place.retryMs = Math.min(block.retry, MAX_PAUSE_MS);
      const frame = readFrame(block);
      if (frame === undefined) continue;
      place.last = Math.max(place.last ?? 0, frame.id);
      yield frame;
    }
  } finally {
    clearTimeout(timer);
    // Lets the connection go when the reader leaves in the middle.
    silence.abort();
  }
}

function isFinal(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false;
  return error.status < 500 && error.status !== 429 && error.status !== 408;
}

interface Block {
  id?: string;
  event?: string;
  data?: string;
  retry?: number;
}

/** Splits an event stream into its blocks, for any chunking and any of the three line ends (WHATWG HTML §9.2.6). */
export async function* readBlocks(response: Response, onBytes: () => void = () => {}): AsyncGenerator<Block> {
  if (response.body === null) return;
  const decoder = new TextDecoder();
  let rest = '';
  let block: Block = {};
  for await (const chunk of response.body) {
    onBytes();
    rest += decoder.decode(chunk as Uint8Array, { stream: true });
    if (rest.length + (block.data?.length ?? 0) > MAX_BLOCK)
      throw new CliError('An event of more than 8 MB came; the stream is not an event feed.');
    // A carriage return at the very end may be the first half of a line end that is still under way.
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? '';
    for (const line of lines) {
      takeField(block, line);
      if (line !== '') continue;
      if (Object.keys(block).length > 0) yield block;
      block = {};
    }
  }
}

function takeField(block: Block, line: string): void {
  const colon = line.indexOf(':');
  if (colon === 0) return;
  const name = colon < 0 ? line : line.slice(0, colon);
  const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
  if (name === 'data') block.data = block.data === undefined ? value : `${block.data}\n${value}`;
  else if (name === 'id') block.id = value;
  else if (name === 'event') block.event = value;
  else if (name === 'retry' && /^\d+$/.test(value)) block.retry = Number(value);
}

function readFrame(block: Block): Frame | undefined {
  if (block.data === undefined) return undefined;
  let parsed: unknown;
  try {
    parsed = JSON.parse(block.data);
  } catch {
    throw new CliError('The event feed sent something that is not JSON.');
  }
  if (typeof parsed !== 'object' || parsed === null) return undefined;
  const body = parsed as Frame['body'];
  const id = Number(block.id ?? body['id']);
  return Number.isSafeInteger(id) ? { id, body } : undefined;
}
