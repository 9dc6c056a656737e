/** How much of a task queue no worker has taken yet, as Temporal estimates it. */
import type { Connection } from '@temporalio/client';

export interface QueueBacklog {
  readonly queue: string;
  readonly kind: 'workflow' | 'activity';
  readonly waiting: number;
  /** Seconds since the oldest was added. */
  readonly oldest_seconds: number;
}

/** The kinds by their numbers in Temporal's API. */
const KINDS = { workflow: 1, activity: 2 } as const;

export function backlogOf(
  service: Connection['workflowService'],
  namespace: string,
  queue: string,
): Promise<readonly QueueBacklog[]> {
  return Promise.all(
    (['workflow', 'activity'] as const).map(async (kind) => {
      const { stats } = await service.describeTaskQueue({
        namespace,
        taskQueue: { name: queue },
        taskQueueType: KINDS[kind],
        reportStats: true,
      });
      return {
        queue,
        kind,
        waiting: Number(stats?.approximateBacklogCount ?? 0),
        oldest_seconds: Number(stats?.approximateBacklogAge?.seconds ?? 0),
      };
    }),
  );
}
