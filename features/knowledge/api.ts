/** The knowledge graph in the API: a document that is removed also removes its facts. */
import type { ApiCore } from '#api/api-parts.ts';
import type { ApiPart } from '#domain/feature.ts';
import { removeUnnamedEntities } from './store/knowledge-index-store.ts';

export function createApiPart({ pool }: ApiCore): ApiPart {
  return {
    documentWritten: async (scope, _path, isRemoved) => {
      if (isRemoved) await removeUnnamedEntities(pool, scope);
    },
  };
}
