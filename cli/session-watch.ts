/**
 * Watches a session's feed and reports how each turn ended. The feed is the source. When it is silent, the turn's row
 * is read, so that nobody waits forever for a lost ending.
 */
import type { StoredEvent } from '#domain/event.ts';
import type { Client } from './client.ts';
import { followEvents } from './follow.ts';
import type { Turn } from './wire.ts';

export type EndStatus = 'completed' | 'failed' | 'stopped';

export interface SessionWatch {
  /** Resolves when that turn has ended, also if it ended before; rejects when the feed can no longer be followed. */
  end(turnId: string): Promise<EndStatus>;
  /** Turns that began and have not ended, oldest first. */
  running(): readonly string[];
  close(): void;
}

const CHECK_MS = 10_000;
const ENDS: Readonly<Record<string, EndStatus>> = {
  'turn.completed': 'completed',
  'turn.failed': 'failed',
  'turn.stopped': 'stopped',
};

export function watchSession(options: {
  readonly client: Client;
  readonly sessionKey: string;
  readonly after: number;
  /** A turn that began before `after`. */
  readonly running?: string | null | undefined;
  readonly onEvent: (event: StoredEvent) => void;
  readonly onConnection?: (reason: string | undefined) => void;
}): SessionWatch {
  const closing = new AbortController();
  const ended = new Map<string, EndStatus>();
  const running = new Set<string>(options.running ? [options.running] : []);
  const waiting = new Map<string, PromiseWithResolvers<EndStatus>>();
  let broken: unknown;

  function settle(turnId: string, end: EndStatus): void {
    running.delete(turnId);
    ended.set(turnId, end);
    waiting.get(turnId)?.resolve(end);
    waiting.delete(turnId);
  }

  function take(event: StoredEvent): void {
    if (event.turn_id && event.type === 'turn.started') running.add(event.turn_id);
    options.onEvent(event);
    const end = ENDS[event.type];
    if (end !== undefined && event.turn_id) settle(event.turn_id, end);
  }

  function breakOff(error: unknown): void {
    broken = error;
    for (const promise of waiting.values()) promise.reject(error);
    waiting.clear();
  }

  async function follow(): Promise<void> {
    for await (const event of followEvents({ ...options, signal: closing.signal })) take(event);
  }

  /** A row may be final a moment before its event is read, so only what is still unknown at the next check counts. */
  const suspects = new Set<string>();
  async function check(): Promise<void> {
    for (const turnId of waiting.keys()) {
      const { status } = await options.client.get<Turn>(`/v1/turns/${encodeURIComponent(turnId)}`);
      if (status !== 'completed' && status !== 'failed' && status !== 'stopped') continue;
      if (suspects.has(turnId)) settle(turnId, status);
      suspects.add(turnId);
    }
  }

  const timer = setInterval(() => {
    // The feed reports a lost connection; the next check tries again.
    check().catch(() => undefined);
  }, CHECK_MS);
  follow().catch(breakOff);

  return {
    end(turnId) {
      const known = ended.get(turnId);
      if (known !== undefined) return Promise.resolve(known);
      if (broken !== undefined) return Promise.reject(broken);
      const promise = waiting.get(turnId) ?? Promise.withResolvers<EndStatus>();
      waiting.set(turnId, promise);
      return promise.promise;
    },
    running: () => [...running],
    close() {
      clearInterval(timer);
      closing.abort();
    },
  };
}
