/** What is looked for every minute, whatever happened meanwhile: work whose workflow was ended, old rows, boxes that are over. */

export const SWEEP = { type: 'sweep', everySeconds: 60, runSeconds: 3600 } as const;

/** For how long it goes on, so that Temporal's list has a run an hour and not sixty. */
export interface SweepInput {
  readonly seconds?: number;
}

/** Younger work is not looked at: most is over by then, and costs nothing. */
export const LOST_AFTER_SECONDS = 60;

/** One for a task queue: the id of its schedule, and the first part of its runs' ids. */
export function sweepId(taskQueue: string): string {
  return `sweep/${taskQueue}`;
}

/** Each says how many it found, is safe to repeat, and may run beside itself. */
export interface SweepActivities {
  /** Starts or ends what was lost, that of features too. */
  sweep_lost_work(): Promise<number>;
  /** Deletes rows, and objects of workspaces, that are kept for a time only. */
  prune_rows(): Promise<number>;
  /** Removes sandboxes that are over, as far as this worker's engine has them. */
  reap_boxes(): Promise<number>;
}

export type SweepPart = keyof SweepActivities;

/** By part; null where something was away, which the next sweep makes up for. */
export type SweepReport = Readonly<Record<SweepPart, number | null>>;
