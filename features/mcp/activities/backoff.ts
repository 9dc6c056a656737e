/**
 * When a lost connection is retried: soon, then after growing pauses, and after a number of failures not for a while
 * (MC-1).
 */

export interface Timing {
  readonly firstWaitMs: number;
  readonly maxWaitMs: number;
  readonly attempts: number;
  readonly pauseMs: number;
  /** A connection that lasted this long was a good one; the next loss counts as the first again. */
  readonly goodMs: number;
  /** Milliseconds between two checks of a server. */
  readonly healthMs: number;
}

/** The values of test/vectors/mcp.json. */
export const TIMING: Timing = {
  firstWaitMs: 2_000,
  maxWaitMs: 60_000,
  attempts: 10,
  pauseMs: 300_000,
  goodMs: 60_000,
  healthMs: 30_000,
};

export interface Backoff {
  /** Notes that the connection is open. */
  opened(): void;
  /**
   * Notes that it failed or was lost. Returns true when it is given up for a while; else `again` is called when it is
   * time.
   */
  failed(again: () => void): boolean;
  /** Milliseconds until the next try is allowed; 0 means now. */
  waitMs(): number;
  end(): void;
}

export function createBackoff(timing: Timing): Backoff {
  let failures = 0;
  let openedAt = Number.NaN;
  let retryAt = 0;
  let timer: NodeJS.Timeout | undefined;
  return {
    opened() {
      clearTimeout(timer);
      openedAt = Date.now();
      retryAt = 0;
    },
    failed(again) {
      clearTimeout(timer);
      if (Date.now() - openedAt >= timing.goodMs) failures = 0;
      openedAt = Number.NaN;
      failures += 1;
      const isOver = failures >= timing.attempts;
      const wait = isOver
        ? timing.pauseMs
        : Math.min(timing.firstWaitMs * 2 ** (failures - 1), timing.maxWaitMs);
      retryAt = Date.now() + wait;
      if (isOver) failures = 0;
      else timer = setTimeout(again, wait).unref();
      return isOver;
    },
    waitMs: () => Math.max(0, retryAt - Date.now()),
    end: () => clearTimeout(timer),
  };
}
