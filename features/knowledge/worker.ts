/** The knowledge graph in a worker: a document that is removed takes its facts along. */
import type { WorkerPart } from '#domain/feature.ts';
import type { WorkerCore } from '#workers/worker-core.ts';
import { removeUnnamedEntities } from './store/knowledge-index-store.ts';

export function createWorkerPart({ pool }: WorkerCore): WorkerPart {
  return { documentWritten: (scope) => removeUnnamedEntities(pool, scope) };
}
