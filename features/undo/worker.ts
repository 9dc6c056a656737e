/** What undo needs in a worker: what calls replace is kept, and only calls that an undo has claimed may reverse others. */
import type { WorkerPart } from '#domain/feature.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import type { WorkerCore } from '#workers/worker-core.ts';
import { createKeepBefore, readBefore } from './before-images.ts';
import { isClaimed } from './store.ts';
import type { UndoDeps } from './tools/restore-file.ts';

export function createWorkerPart({ pool, sealer, machine }: WorkerCore): WorkerPart {
  const undo: UndoDeps = {
    before: (caller, call, path) => readBefore({ pool, sealer }, caller, call, path),
  };
  const keepBefore = createKeepBefore({ pool, sealer, files: machine.world.files });
  return {
    tools: { undo, keepBefore },
    mayReverse: (tenant, call, by) => isClaimed(forTenant(pool, tenant), call, by),
  };
}
