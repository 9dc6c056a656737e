/** Serves how much of an agent's memory is in its knowledge graph. */
import type { Api, ApiDeps } from '#api/deps.ts';
import { serveResource } from '#api/serve-resource.ts';
import { memoryOwner } from '#features/memory/index.ts';
import { knowledgeStatusOfAgent } from './status-resource.ts';
import { knowledgeStatus } from './store/knowledge-index-store.ts';

export function addRoutes(app: Api, { pool }: ApiDeps): void {
  serveResource(app, knowledgeStatusOfAgent, {
    async getKnowledgeStatus(request) {
      const owner = await memoryOwner(pool, request);
      return owner && knowledgeStatus(pool, owner);
    },
  });
}
