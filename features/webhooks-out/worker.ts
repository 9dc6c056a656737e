/** Sends the deliveries in a worker. */
import type { WorkerPart } from '#domain/feature.ts';
import type { WorkerCore } from '#workers/worker-core.ts';
import { attemptDelivery } from './attempt.ts';
import { createDispatcher } from './dispatcher.ts';
import { HAS_DUE, trimQueues } from './store/delivery-queue-store.ts';

/** The worker has drained by then; most attempts take less than a second. */
const CLOSE_MS = 3_000;

export function createWorkerPart(core: WorkerCore): WorkerPart {
  const { config, pool, notifier, changes, log } = core;
  const deps = { ...core, settings: config.webhooks, deliverers: () => core.extensions('deliverer') };
  const { look, close } = createDispatcher({
    pool,
    attempt: (db, claim, signal) => attemptDelivery(deps, db, claim, signal),
    onError: (error) => log.warn({ err: error }, 'deliveries could not be sent or recorded'),
    graceMs: Math.min(config.worker.shutdownGraceSeconds * 1_000, CLOSE_MS),
  });
  notifier.whenDue(HAS_DUE, async () => look());
  changes.subscribe('deliveries', look);
  return { recover: () => trimQueues(pool), close };
}
