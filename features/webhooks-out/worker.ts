/** Provides the deliveries of a worker. */
import type { WorkerPart } from '#domain/feature.ts';
import type { WorkerCore } from '#workers/worker-core.ts';
import { createWebhookActivities } from './activities.ts';
import { startDueDeliveries } from './temporal.ts';

export function createWorkerPart(core: WorkerCore): WorkerPart {
  const { config, pool, reach } = core;
  const deliverers = () => core.extensions('deliverer');
  return {
    activities: { ...createWebhookActivities({ ...core, settings: config.webhooks, deliverers }) },
    recover: () => startDueDeliveries(pool, reach),
  };
}
