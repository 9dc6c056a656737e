/** Counts the activities that run in this worker, by their types: what operators see of it. */
import type { ActivityInterceptorsFactory } from '@temporalio/worker';

export function countRunning(): {
  readonly interceptor: ActivityInterceptorsFactory;
  running(): Readonly<Record<string, number>>;
} {
  const counts = new Map<string, number>();
  const add = (type: string, by: number): void => {
    const count = (counts.get(type) ?? 0) + by;
    if (count === 0) counts.delete(type);
    else counts.set(type, count);
  };
  return {
    interceptor: ({ info: { activityType } }) => ({
      inbound: {
        async execute(input, next) {
          add(activityType, 1);
          try {
            return await next(input);
          } finally {
            add(activityType, -1);
          }
        },
      },
    }),
    running: () => Object.fromEntries(counts),
  };
}
