/** Appends to the chains and anchors their heads, beside the turns, in each worker. */
import type { WorkerPart } from '#domain/feature.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import type { WorkerCore } from '#workers/worker-core.ts';
import { openAnchors } from './anchors.ts';
import { createAppender } from './appender.ts';
import { tenantsWithForgotten, unnameForgotten } from './store.ts';

export function createWorkerPart(core: WorkerCore): WorkerPart {
  const { config, pool, sealer, log, resolveSecret } = core;
  const { close } = createAppender({
    pool,
    sealer,
    anchors: openAnchors(config.evidence.anchors, resolveSecret),
    anchorSeconds: config.evidence.anchorSeconds,
    onError: (error, what) => log.warn({ err: error }, `evidence could not be ${what}`),
  });
  return {
    close,
    // What retention has removed; of a request to forget it is done at once.
    async prune() {
      let count = 0;
      for (const tenant of await tenantsWithForgotten(pool))
        count += await unnameForgotten(forTenant(pool, tenant));
      return count;
    },
    forget: {
      counted: 'evidence',
      after: 'rows',
      // The receipt counts the rows that the entries named.
      async remove(tenant) {
        await unnameForgotten(forTenant(pool, tenant));
        return 0;
      },
    },
  };
}
