/**
 * Follows a stream of server-sent events until it is closed. After a cut it continues behind the last event
 * that it has delivered, so that none is missing and none comes twice.
 */
import { type ReadonlySignal, signal } from '@preact/signals';
import { createParser } from 'eventsource-parser';
import type { Operations } from './operations.ts';
import { type Problem, readProblem } from './problem.ts';
import { credentials } from './request.ts';

export type StreamedEvent = Operations['GET /v1/sessions/{key}/events']['answer'];
export type StreamedApproval = Operations['GET /v1/approvals/events']['answer'];

export interface EventStream {
  readonly state: ReadonlySignal<'connecting' | 'live' | 'reconnecting' | 'ended'>;
  /** Set when the stream has ended for good. */
  readonly problem: ReadonlySignal<Problem | undefined>;
  close(): void;
}

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5_000;
/** The server sends at least a comment every 15 seconds. */
const SILENCE_MS = 25_000;

export interface StreamReader<Event> {
  /** Gets the events of one read together. */
  deliver(events: readonly Event[]): void;
  /** Drops all events: older ones are no longer kept. */
  reset(): void;
  /** Whether each event has a higher id than the one before it. Where not, an event may come again, or has no id. */
  readonly isNumbered?: boolean;
}

export function followEvents<Event>(
  path: string,
  { deliver, reset, isNumbered = true }: StreamReader<Event>,
): EventStream {
  const state = signal<'connecting' | 'live' | 'reconnecting' | 'ended'>('connecting');
  const problem = signal<Problem | undefined>(undefined);
  const closing = new AbortController();
  let last: number | undefined;
  let wake: () => void = () => undefined;

  /** Reads one connection to its end. Resolves with the problem when it was refused. */
  async function readOnce(onLive: () => void): Promise<Problem | undefined> {
    const connection = new AbortController();
    const abort = (): void => connection.abort();
    closing.signal.addEventListener('abort', abort);
    let silence = setTimeout(abort, SILENCE_MS);
    try {
      const response = await fetch(new URL(path, document.baseURI), {
        credentials: 'same-origin',
        headers: {
          accept: 'text/event-stream',
          ...(last !== undefined && { 'last-event-id': String(last) }),
        },
        signal: connection.signal,
      });
      if (!response.ok || !response.body) return await readProblem(response);
      state.value = 'live';
      onLive();
      let events: Event[] = [];
      const parser = createParser({
        onEvent({ id, data }) {
          const number = Number(id);
          if (isNumbered && last !== undefined && number <= last) return;
          if (id) last = Math.max(last ?? 0, number);
          events.push(JSON.parse(data) as Event);
        },
      });
      for await (const text of readText(response.body)) {
        clearTimeout(silence);
        silence = setTimeout(abort, SILENCE_MS);
        parser.feed(text);
        if (events.length > 0) deliver(events);
        events = [];
      }
      return undefined;
    } finally {
      clearTimeout(silence);
      closing.signal.removeEventListener('abort', abort);
    }
  }

  async function follow(): Promise<void> {
    let pause = FIRST_PAUSE_MS;
    while (!closing.signal.aborted) {
      const refused = await readOnce(() => {
        pause = FIRST_PAUSE_MS;
      }).catch(() => undefined);
      if (closing.signal.aborted) break;
      if (refused?.status === 410) {
        last = undefined;
        reset();
      } else if (refused && refused.status < 500 && refused.status !== 429) {
        if (refused.status === 401) credentials.onEnd();
        problem.value = refused;
        break;
      }
      state.value = 'reconnecting';
      await sleep(Math.max(pause * (0.5 + Math.random() / 2), (refused?.retryAfter ?? 0) * 1_000));
      pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
    }
    state.value = 'ended';
  }

  /** Ends early when the network returns, or the person looks at the page again. */
  function sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  const wakeUp = (): void => wake();
  window.addEventListener('online', wakeUp);
  document.addEventListener('visibilitychange', wakeUp);
  void follow();
  return {
    state,
    problem,
    close() {
      window.removeEventListener('online', wakeUp);
      document.removeEventListener('visibilitychange', wakeUp);
      closing.abort();
      wake();
    },
  };
}

async function* readText(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body
    .pipeThrough(new TextDecoderStream() as unknown as TransformStream<Uint8Array, string>)
    .getReader();
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}
