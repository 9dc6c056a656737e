/** Serves how much of an agent's memory is indexed. */
import { memory } from './resource.ts';
import { memoryOwner } from './memory-owner.ts';
import { memoryStatus } from './store/memory-index-store.ts';
import type { Api, ApiDeps } from '#api/deps.ts';
import { serveResource } from '#api/serve-resource.ts';

export function addRoutes(app: Api, { pool, models }: ApiDeps): void {
  serveResource(app, memory, {
    async getMemoryStatus(request) {
      const scope = await memoryOwner(pool, request);
      const embedder = models.embedder() ?? null;
      return scope && { ...(await memoryStatus(pool, scope, embedder)), embedder };
    },
  });
}
