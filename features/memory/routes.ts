/** What of an agent's memory is indexed, and read for facts: rows behind the definition. */
import type { DocumentScope } from '#domain/document.ts';
import { Failure } from '#domain/errors.ts';
import { memory } from './resource.ts';
import { findAgent } from '#store/agent-store.ts';
import { knowledgeStatus } from '#features/knowledge/store/knowledge-index-store.ts';
import { memoryStatus } from './store/memory-index-store.ts';
import type { Api, ApiDeps } from '#api/deps.ts';
import { type Call, serveResource } from '#api/serve-resource.ts';

type Asked = Pick<
  Call<(typeof memory.operations)['getMemoryStatus']>,
  'tenant' | 'caller' | 'params' | 'query'
>;

export function addRoutes(app: Api, { pool, models }: ApiDeps): void {
  /** Undefined: there is no such agent. */
  async function scopeOf({
    tenant,
    caller,
    params: { key },
    query,
  }: Asked): Promise<DocumentScope | undefined> {
    const { confinedTo } = caller;
    const user = query.user ?? confinedTo;
    if (confinedTo !== null && user !== confinedTo)
      throw new Failure('Forbidden', 'A key of one user does not see the memory of others');
    return (await findAgent(pool, tenant, key)) && { tenant, agent: key, user };
  }

  serveResource(app, memory, {
    async getMemoryStatus(asked) {
      const scope = await scopeOf(asked);
      const embedder = models.embedder() ?? null;
      return scope && { ...(await memoryStatus(pool, scope, embedder)), embedder };
    },
    async getKnowledgeStatus(asked) {
      const scope = await scopeOf(asked);
      return scope && knowledgeStatus(pool, scope);
    },
  });
}
