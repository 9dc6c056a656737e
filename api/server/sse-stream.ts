/**
 * Serves one reader of server-sent events. New events are read from a table, which is the buffer, so a slow reader
 * costs no memory. A reader that stops reading is disconnected, and returns with Last-Event-ID.
 */
import type { ServerResponse } from 'node:http';
import { createNotifier } from '../notifier.ts';

/** Stays under the 15 s that proxies and clients are promised. */
const HEARTBEAT_MS = 10_000;
/** How long a reader may accept nothing of what is written. */
const STALLED_MS = 30_000;
/** Milliseconds after which a client reconnects by itself. */
const RETRY_MS = 2_000;

/** The source of one reader's events. */
export interface SseSource {
  /** Calls `wake` when there may be something new; returns a function that ends this. */
  readonly subscribe: (wake: () => void) => () => void;
  /** False: its reader does not reconnect. Some clients take the time for that as an event. */
  readonly resumes?: false;
  /** Ends the stream when it is aborted: the reader may not read this any more. */
  readonly ended?: AbortSignal;
  /** Writes everything new, frame by frame; each write waits for the reader. */
  readonly sendNew: (write: (frame: string) => Promise<void>, signal: AbortSignal) => Promise<void>;
}

/**
 * Resolves when the stream is over; never throws. The head has already been written. `signal` is aborted when the
 * client disconnects or the server stops.
 */
export async function streamSse(
  response: ServerResponse,
  { subscribe, sendNew, resumes }: SseSource,
  signal: AbortSignal,
  onError: (error: unknown) => void,
): Promise<void> {
  const bell = createNotifier();
  const unsubscribe = subscribe(bell.ring);
  signal.addEventListener('abort', bell.ring);
  const send = (frame: string): Promise<void> => write(response, frame, signal);
  try {
    if (resumes !== false) await send(`retry: ${RETRY_MS}\n\n`);
    while (!signal.aborted) {
      await sendNew(send, signal);
      if ((await bell.wait(HEARTBEAT_MS)) === 'silence') await send(': still here\n\n');
    }
  } catch (error) {
    // The client returns with the last id it has, and misses nothing.
    if (!signal.aborted) onError(error);
  } finally {
    signal.removeEventListener('abort', bell.ring);
    unsubscribe();
    response.end();
  }
}

/** Waits until the client has accepted most of it; throws when it accepts nothing for too long. */
async function write(response: ServerResponse, text: string, signal: AbortSignal): Promise<void> {
  if (signal.aborted || response.write(text)) return;
  await new Promise<void>((resolve, reject) => {
    const done = (error?: Error): void => {
      clearTimeout(timer);
      response.off('drain', onDrain);
      signal.removeEventListener('abort', onDrain);
      if (error) reject(error);
      else resolve();
    };
    const onDrain = (): void => done();
    const timer = setTimeout(
      () => done(new Error('the reader of an event stream has stopped reading')),
      STALLED_MS,
    );
    response.once('drain', onDrain);
    signal.addEventListener('abort', onDrain);
  });
}
