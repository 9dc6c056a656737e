/** Memory in the API: its index follows what people write, and supports many vectors. */
import type { ApiCore } from '#api/api-parts.ts';
import type { ApiPart } from '#domain/feature.ts';
import { indexAfter } from './temporal.ts';
import { indexVectors } from './store/vector-index.ts';

export function createApiPart({ config, temporal, log }: ApiCore): ApiPart {
  return {
    documentWritten: (scope, path) => indexAfter(temporal, scope, path),
    async start() {
      const { url } = config.database;
      if (url === undefined) return;
      // This runs in the background: search works without an index until it exists.
      indexVectors(url).then(
        (made) => made.length > 0 && log.info({ made }, 'made an index for search by meaning'),
        (error: unknown) =>
          log.warn({ err: error }, 'made no index for search by meaning; it goes without one'),
      );
    },
  };
}
