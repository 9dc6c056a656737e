/** Provides what the tools web_fetch and web_search need in a worker. */
import type { WorkerPart } from '#domain/feature.ts';
import type { WorkerCore } from '#workers/worker-core.ts';
import { createWebPages } from './pages/web-pages.ts';
import { createWebSearch } from './search/web-search.ts';

export function createWorkerPart(core: WorkerCore): WorkerPart {
  const { egress, egressSettings, resolveSecret, config } = core;
  return {
    tools: {
      webPages: createWebPages(egress, Date.now),
      webSearch: createWebSearch({ egress, egressSettings, settings: config.web.search, resolveSecret }),
    },
  };
}
