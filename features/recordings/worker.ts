/** Answers in sessions of replays. */
import type { WorkerPart } from '#domain/feature.ts';
import type { WorkerCore } from '#workers/worker-core.ts';
import { createStandIns } from './stand-ins.ts';

export function createWorkerPart({ pool, scrubberOf }: WorkerCore): WorkerPart {
  return { standIns: createStandIns(pool, scrubberOf) };
}
