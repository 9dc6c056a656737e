/** Provides what the tool canvas needs in a worker. */
import type { WorkerPart } from '#domain/feature.ts';
import type { WorkerCore } from '#workers/worker-core.ts';
import { createCanvases } from './canvases.ts';

export function createWorkerPart(core: WorkerCore): WorkerPart {
  return { tools: { canvases: createCanvases(core) } };
}
