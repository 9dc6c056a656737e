/**
 * The checks that run every minute: for work whose workflow was ended, old rows, and sandboxes that are no longer
 * needed.
 */

export const SWEEP = { type: 'sweep', everySeconds: 60, runSeconds: 3600 } as const;

/** How long one run repeats the checks, so that Temporal's list has one run per hour and not sixty. */
export interface SweepInput {
  readonly seconds?: number;
}

/** Younger work is not checked: most of it ends by then, so the check would be wasted. */
export const LOST_AFTER_SECONDS = 60;

/** One per task queue: the id of its schedule, and the prefix of its runs' ids. */
export function sweepId(taskQueue: string): string {
  return `sweep/${taskQueue}`;
}

/** Each returns how many it found, is safe to repeat, and may run concurrently with itself. */
export interface SweepActivities {
  /** Restarts or ends lost work, including that of features. */
  sweep_lost_work(): Promise<number>;
  /** Adds model uses to their sums, and deletes rows and objects of workspaces whose retention is over. */
  prune_rows(): Promise<number>;
  /** Removes sandboxes that are no longer needed, if this worker's engine has them. */
  reap_boxes(): Promise<number>;
}

export type SweepPart = keyof SweepActivities;

/** Counts by part; null when a service was unavailable, which the next sweep makes up for. */
export type SweepReport = Readonly<Record<SweepPart, number | null>>;
