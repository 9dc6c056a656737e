/**
 * Lets few through at once where many come for one thing, so that the many do not drive the few away: Temporal takes ten
 * updates of one run at a time and turns the rest back.
 */

export interface ConcurrencyLimit {
  /** Runs `work` as soon as fewer than the limit run under `name`, and tells it whether it had to wait. */
  pass<Result>(name: string, work: (waited: boolean) => Promise<Result>): Promise<Result>;
}

interface Slot {
  inside: number;
  readonly waiting: (() => void)[];
}

/** In this process; first come, first served. Whoever goes in leaves by `work`'s end, so `work` must have one. */
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
        // Whoever comes next takes this place over, so that nobody slips in between.
        const next = place.waiting.shift();
        if (next) next();
        else place.inside -= 1;
        if (place.inside === 0) places.delete(name);
      }
    },
  };
}
