/** How long workflow tasks have lasted in which steps run. */

export interface TaskClock {
  /** Milliseconds (performance.now) of the first call with this task of the run. */
  beganAt(run: string, task: number): number;
}

/** More runs than a worker has at once; the clock of a run that is dropped begins again. */
const MAX = 10_000;

export function createTaskClock(now: () => number = () => performance.now()): TaskClock {
  const tasks = new Map<string, { readonly task: number; readonly began: number }>();
  return {
    beganAt(run, task) {
      const known = tasks.get(run);
      if (known?.task === task) return known.began;
      const began = now();
      // A run that is put again becomes the newest.
      tasks.delete(run);
      tasks.set(run, { task, began });
      const [oldest] = tasks.keys();
      if (tasks.size > MAX && oldest !== undefined) tasks.delete(oldest);
      return began;
    },
  };
}
