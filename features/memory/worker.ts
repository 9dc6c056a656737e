/** Memory in a worker: its index, what its tools need, and what is kept of a conversation that is shortened. */
import type { WorkerPart } from '#domain/feature.ts';
import type { WorkerCore } from '#workers/worker-core.ts';
import { createMemoryRoom } from './activities/memory-room.ts';

export function createWorkerPart(core: WorkerCore): WorkerPart {
  const { activities, tools, indexPending } = createMemoryRoom({ ...core, outsideOf: core.rules.outside });
  return {
    tools: { ...tools },
    activities: { ...activities },
    recover: indexPending,
    summarized: tools.memory.remember,
  };
}
