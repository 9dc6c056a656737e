/** Holds the turns of a batch at one point until all are there, so that one kill meets them all. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { PointId } from './points.ts';

/** How long the first of a batch waits for the last. A side may run fewer turns at once than the batch has. */
const PATIENCE_MS = 30_000;

export interface Gate {
  readonly point: PointId;
  /**
   * Holds the first arrival of a turn of the batch at this point. `release` continues it: before the kill where the
   * response is part of the point, otherwise after it. Returns false for a turn that is not held; it goes on at once.
   */
  arrive(point: PointId, turn: string, release: () => Promise<void>): boolean;
  /** Resolves after the kill, with the turns that were held. */
  readonly fired: Promise<readonly string[]>;
}

export interface GateOptions {
  readonly point: PointId;
  readonly turns: readonly string[];
  /** Milliseconds between the response and the kill at `record`. */
  readonly recordMs: number;
  readonly kill: () => void;
}

/** Points at which the kill comes after what `release` sends. */
const KILL_LAST: readonly PointId[] = ['before', 'record', 'answer'];

export function createGate({ point, turns, recordMs, kill }: GateOptions): Gate {
  const held = new Map<string, () => Promise<void>>();
  const { promise, resolve, reject } = Promise.withResolvers<readonly string[]>();
  let isFired = false;
  let timer: NodeJS.Timeout | undefined;
  const fire = async (): Promise<void> => {
    isFired = true;
    clearTimeout(timer);
    const releases = [...held.values()];
    if (KILL_LAST.includes(point)) {
      await Promise.all(releases.map((release) => release()));
      if (point === 'record') await sleep(recordMs);
      kill();
    } else {
      kill();
      await Promise.all(releases.map((release) => release()));
    }
    resolve([...held.keys()]);
  };
  return {
    point,
    fired: promise,
    arrive(at, turn, release) {
      if (isFired || at !== point || !turns.includes(turn) || held.has(turn)) return false;
      held.set(turn, release);
      timer ??= setTimeout(() => void fire().catch(reject), PATIENCE_MS);
      if (held.size === turns.length) void fire().catch(reject);
      return true;
    },
  };
}
