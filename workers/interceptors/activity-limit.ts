/**
 * Limits how many activities work at the same time, without the model calls: these only wait for their providers and
 * have the worker's other slots. An activity that waits here has begun for Temporal; its heartbeats go on.
 */
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { createConcurrencyLimit } from '#domain/async/concurrency-limit.ts';
import { MODEL_ACTIVITY } from '#domain/turn/turn-activities.ts';

export function limitActivities(max: number): ActivityInterceptorsFactory {
  const limit = createConcurrencyLimit(max);
  return ({ info }) => ({
    inbound: {
      execute: (input, next) =>
        info.isLocal || info.activityType === MODEL_ACTIVITY
          ? next(input)
          : limit.pass('activities', () => next(input)),
    },
  });
}
