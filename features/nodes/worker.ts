/** Provides nodes in a worker. */
import type { WorkerPart } from '#domain/feature.ts';
import type { WorkerCore } from '#workers/worker-core.ts';
import { createNodes } from './activities/nodes.ts';
import { hasQueueNodes } from './store/node-store.ts';
import { nodeQueuesOf } from './temporal.ts';

export function createWorkerPart({ pool, sealer, changes, temporal }: WorkerCore): WorkerPart {
  const nodes = createNodes({ pool, sealer, changes, nodeQueues: nodeQueuesOf(temporal.clients) });
  return {
    tools: { nodes },
    hasTemporalClients: () => hasQueueNodes(pool),
  };
}
