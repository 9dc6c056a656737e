/**
 * Provides memory in a worker: its index, what its tools need, and what is stored of a conversation that is shortened.
 */
import { indexAfter } from './temporal.ts';
import type { WorkerPart } from '#domain/feature.ts';
import type { WorkerCore } from '#workers/worker-core.ts';
import { INDEX_DOCUMENT } from './contract.ts';
import { isIndexOf } from './index-id.ts';
import { createPromptMemory } from './activities/prompt-memory.ts';
import { createMemoryActivities } from './activities/memory-activities.ts';

export function createWorkerPart(core: WorkerCore): WorkerPart {
  const { activities, tools, indexPending } = createMemoryActivities({
    ...core,
    outsideOf: core.rules.outside,
    readers: () => core.extensions('memoryReader'),
  });
  return {
    tools: { ...tools },
    promptPiece: createPromptMemory(core.pool),
    documentWritten: (scope, path) => indexAfter(core.reach, scope, path),
    activities: { ...activities },
    recover: indexPending,
    summarized: tools.memory.remember,
    forget: {
      counted: 'runs',
      after: 'rows',
      remove: async (tenant, { user }) =>
        user === undefined
          ? 0
          : core.temporal.removeRuns(
              tenant,
              { type: INDEX_DOCUMENT.type, isMeant: (id) => isIndexOf(id, tenant, user) },
              new Date(),
            ),
    },
  };
}
