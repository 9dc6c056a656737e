/** Holds back the calls that a freeze names, in this worker. */
import type { WorkerPart } from '#domain/feature.ts';
import type { WorkerCore } from '#workers/worker-core.ts';
import { createHeldBack } from './held-back.ts';

export const createWorkerPart = ({ pool, changes }: WorkerCore): WorkerPart => ({
  guard: { heldBack: createHeldBack(pool, changes) },
});
