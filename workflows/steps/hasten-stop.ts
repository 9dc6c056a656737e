/** Has a stop reach running activities at once: their heartbeats, with which cancellations arrive, are rare. */
import { CancellationScope, proxyLocalActivities, workflowInfo } from '@temporalio/workflow';
import type { TurnActivities } from '#domain/turn/turn-activities.ts';
import { HASTENED } from '../activity-options.ts';

const { hasten_stop } = proxyLocalActivities<TurnActivities>(HASTENED);

/** Calls it once the scope is cancelled; it is not awaited, because without it the stop only takes longer. */
export function hastenStopOf(scope: CancellationScope): void {
  scope.cancelRequested.catch(() => {
    CancellationScope.nonCancellable(() => hasten_stop({ workflow_id: workflowInfo().workflowId })).catch(
      () => undefined,
    );
  });
}
