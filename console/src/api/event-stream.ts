/**
 * Follows a stream of server-sent events until it is closed. After a cut it continues behind the last event
 * that it has delivered, so that none is missing and none comes twice.
 */
import { type ReadonlySignal, signal } from '@preact/signals';
import { type EventOf, followFeed, refusal, type TempoClawError } from '@tempoclaw/client';
import type { Problem } from './problem.ts';
import { credentials } from './request.ts';

export type StreamedEvent = EventOf<'GET /v1/sessions/{key}/events'>;
export type StreamedApproval = EventOf<'GET /v1/approvals/events'>;

export interface EventStream {
  readonly state: ReadonlySignal<'connecting' | 'live' | 'reconnecting' | 'ended'>;
  /** Set when the stream has ended for good. */
  readonly problem: ReadonlySignal<Problem | undefined>;
  close(): void;
}

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
  let wake: () => void = () => undefined;

  async function open(after: number | undefined, ending: AbortSignal): Promise<Response> {
    const response = await fetch(new URL(path, document.baseURI), {
      credentials: 'same-origin',
      headers: {
        accept: 'text/event-stream',
        ...(after !== undefined && { 'last-event-id': String(after) }),
      },
      signal: ending,
    });
    if (!response.ok) throw refusal(response, await response.text());
    return response;
  }

  async function follow(): Promise<void> {
    while (!closing.signal.aborted)
      try {
        const batches = followFeed<Event>({
          open,
          isNumbered,
          sleep,
          signal: closing.signal,
          onConnection: (cut) => {
            state.value = cut === undefined ? 'live' : 'reconnecting';
          },
        });
        for await (const events of batches) deliver(events);
      } catch (error) {
        const { code, status, message, problem: sent } = error as TempoClawError;
        if (status === 410) {
          reset();
          continue;
        }
        if (status === 401) credentials.onEnd();
        problem.value = { title: message, ...sent, code, status };
        break;
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
