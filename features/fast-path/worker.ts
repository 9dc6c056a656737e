/** Runs the steps of turns on the fast path in a worker that has a task queue of its own. */
import type { WorkerPart } from '#domain/feature.ts';
import type { WorkerCore } from '#workers/worker-core.ts';
import { createPlainEngine } from '#activities/turn/step-engine.ts';
import { createFastPath } from './activities/create-fast-path.ts';
import { declineInline } from './activities/decline-inline.ts';

export function createWorkerPart(core: WorkerCore): WorkerPart {
  const { queue } = core.machine;
  return {
    createStepEngine: (perform, startGate) =>
      queue === undefined
        ? declineInline(createPlainEngine(core.ledger))
        : createFastPath({
            ...core,
            ownQueue: { name: queue, max: core.config.worker.maxConcurrentActivities },
            isRateLimited: core.rateLimit.perHour > 0,
            perform,
            startGate,
          }),
  };
}
