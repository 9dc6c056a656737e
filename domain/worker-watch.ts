/** How workers find out that one of them is lost: by the beats of all, which each reads with its own. */

/** Milliseconds between two beats of a worker. */
export const WORKER_BEAT_MS = 500;

/** A worker without a new beat for this long is lost. A worker that was only busy has its model calls repeated. */
export const SILENT_MS = 2_000;

/**
 * How much of the time between two reads counts. It was longer when this worker was suspended, or when nobody reached
 * Postgres: then the others need time to beat again.
 */
const MAX_GAP_MS = 1.5 * WORKER_BEAT_MS;

export interface WorkerBeat {
  readonly id: string;
  readonly beat: number;
}

export interface WorkerWatch {
  /**
   * Takes the beats of the others as they were read at `now` (milliseconds of a clock that only goes forward). Returns
   * the ids of the lost ones, each time until their rows are gone.
   */
  read(beats: readonly WorkerBeat[], now: number): readonly string[];
}

/** Uses only its own clock: those of other machines may be wrong. */
export function createWorkerWatch(): WorkerWatch {
  let seen = new Map<string, { readonly beat: number; readonly silence: number }>();
  let lastRead = -Infinity;
  return {
    read(beats, now) {
      const gap = Math.min(now - lastRead, MAX_GAP_MS);
      lastRead = now;
      seen = new Map(
        beats.map(({ id, beat }) => {
          const before = seen.get(id);
          return [id, { beat, silence: before?.beat === beat ? before.silence + gap : 0 }];
        }),
      );
      return [...seen].filter(([, { silence }]) => silence >= SILENT_MS).map(([id]) => id);
    },
  };
}
