/** Provides the knowledge graph in a worker: what its tool needs, and how it reads memory. */
import type { WorkerPart } from '#domain/feature.ts';
import type { WorkerCore } from '#workers/worker-core.ts';
import { partsOf } from './activities/document-parts.ts';
import { createExtractKnowledge } from './activities/extract-knowledge.ts';
import { createSearchKnowledge } from './activities/search-knowledge.ts';
import { IS_UNREAD, keepParts, unreadCount } from './store/knowledge-index-store.ts';

export function createWorkerPart(core: WorkerCore): WorkerPart {
  return {
    tools: { searchKnowledge: createSearchKnowledge(core.pool) },
    extends: {
      memoryReader: {
        isUnread: IS_UNREAD,
        unread: unreadCount,
        indexed: (tx, scope, path, pieces) => keepParts(tx, scope, path, partsOf(pieces)),
        read: createExtractKnowledge(core),
      },
    },
  };
}
