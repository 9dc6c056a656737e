/** Tells tools of hosts which calls may reverse others: those that an undo has claimed, from the record. */
import type { WorkerPart } from '#domain/feature.ts';
import type { Reversals } from '#features/code-tools/index.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import type { WorkerCore } from '#workers/worker-core.ts';
import { isClaimed } from './store.ts';

export function createWorkerPart({ pool }: WorkerCore): WorkerPart {
  const reversals: Reversals = {
    mayReverse: (tenant, call, by) => isClaimed(forTenant(pool, tenant), call, by),
  };
  return { extends: { reversals } };
}
