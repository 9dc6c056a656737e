/**
 * Lets only a few requests through at once where many target the same thing, so that the many do not drive the few
 * away. Temporal accepts ten updates of one run at a time and refuses the rest.
 */

export interface ConcurrencyLimit {
  /** Runs `work` as soon as fewer than the limit run under `name`. Passes to `work` whether it had to wait. */
  pass<Result>(name: string, work: (waited: boolean) => Promise<Result>): Promise<Result>;
}

interface Slot {
  inside: number;
  readonly waiting: (() => void)[];
}

/**
 * Limits within this process, first come, first served. A place is free again when its `work` ends, so `work` must end.
 */
export function createConcurrencyLimit(limit: number): ConcurrencyLimit {
  const places = new Map<string, Slot>();
  return {
    async pass(name, work) {
      const place = places.get(name) ?? { inside: 0, waiting: [] };
      places.set(name, place);
      const waits = place.inside >= limit;
      if (waits) await new Promise<void>((enter) => place.waiting.push(enter));
      else place.inside += 1;
      try {
        return await work(waits);
      } finally {
        // The next one in the queue takes over this place, so that nobody slips in between.
        const next = place.waiting.shift();
        if (next) next();
        else place.inside -= 1;
        if (place.inside === 0) places.delete(name);
      }
    },
  };
}
