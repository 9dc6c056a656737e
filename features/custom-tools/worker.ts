/** Provides custom tools in a worker. */
import type { WorkerPart } from '#domain/feature.ts';
import type { WorkerCore } from '#workers/worker-core.ts';
import { createAddedTools } from './activities/added-tools.ts';

export function createWorkerPart({ pool, sealer, resolveOf }: WorkerCore): WorkerPart {
  return { addedTools: createAddedTools({ pool, sealer, resolve: resolveOf }) };
}
