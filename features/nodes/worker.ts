/** Provides nodes in a worker. */
import type { WorkerPart } from '#domain/feature.ts';
import { activitiesOnceOf } from '#temporal/activity-once.ts';
import type { WorkerCore } from '#workers/worker-core.ts';
import { createNodes } from './activities/nodes.ts';
import { hasQueueNodes } from './store/node-store.ts';

export function createWorkerPart({ pool, sealer, changes, temporal }: WorkerCore): WorkerPart {
  const nodes = createNodes({ pool, sealer, changes, once: activitiesOnceOf(temporal.clients) });
  return {
    tools: { nodes },
    hasTemporalClients: () => hasQueueNodes(pool),
  };
}
