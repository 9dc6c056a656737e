/** Keeps files that agents give away, and removes bytes that nothing needs any more from the object store. */
import type { WorkerPart } from '#domain/feature.ts';
import type { WorkerCore } from '#workers/worker-core.ts';
import { createKeepFile } from './keep-file.ts';
import { openArtifacts } from './open-artifacts.ts';
import { removeUnneededObjects } from './store.ts';

export function createWorkerPart({ config, pool, rows, resolveSecret }: WorkerCore): WorkerPart {
  const places = { ...openArtifacts(pool, config, resolveSecret), rows };
  return {
    tools: { keepFile: createKeepFile(places) },
    prune: () => removeUnneededObjects(places),
    forget: {
      counted: 'files',
      after: 'rows',
      async remove(tenant) {
        for (let removed = 0; ; ) {
          const count = await removeUnneededObjects(places, tenant);
          if (count === 0) return removed;
          removed += count;
        }
      },
    },
  };
}
