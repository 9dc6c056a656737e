/** Ends the model calls of a worker that is lost, so that they start again elsewhere at once. */
import { type ActivityClient, ActivityNotFoundError, type WorkflowService } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { createConcurrencyLimit } from '#domain/async/concurrency-limit.ts';
import { MODEL_ACTIVITY } from '#domain/turn/turn-activities.ts';

/**
 * Fails the open model calls that the worker with this identity started in these workflows; the retry rules of the
 * workflows start them again. Returns the workflows that had one. Safe to repeat, also concurrently: a call that another
 * worker has started meanwhile has another identity. @throws Failure
 */
export type FailLostCalls = (workflowIds: readonly string[], identity: string) => Promise<readonly string[]>;

/** Requests to Temporal at the same time. */
const MAX_AT_ONCE = 32;

export function lostCallFailerOf(
  service: Pick<WorkflowService, 'describeWorkflowExecution'>,
  activity: Pick<ActivityClient, 'fail'>,
  namespace: string,
  askRunning: <Result>(request: () => Promise<Result>) => Promise<Result | undefined>,
): FailLostCalls {
  async function failLostCall(workflowId: string, identity: string): Promise<boolean> {
    const execution = { workflowId };
    const found = await askRunning(() => service.describeWorkflowExecution({ namespace, execution }));
    const runId = found?.workflowExecutionInfo?.execution?.runId;
    const lost = (found?.pendingActivities ?? []).filter(
      ({ activityType, lastWorkerIdentity }) =>
        activityType?.name === MODEL_ACTIVITY && lastWorkerIdentity === identity,
    );
    let isLost = false;
    for (const { activityId } of lost) {
      if (!runId || !activityId) continue;
      const failure = ApplicationFailure.retryable(`the worker ${identity} is lost`, 'WorkerLost');
      if (await askRunning(() => unlessEnded(activity.fail({ workflowId, runId, activityId }, failure))))
        isLost = true;
    }
    return isLost;
  }

  return async (workflowIds, identity) => {
    const limit = createConcurrencyLimit(MAX_AT_ONCE);
    const lost = await Promise.all(
      workflowIds.map((id) => limit.pass(identity, () => failLostCall(id, identity))),
    );
    return workflowIds.filter((_, index) => lost[index]);
  };
}

/** False when the activity has ended meanwhile. */
async function unlessEnded(failing: Promise<void>): Promise<boolean> {
  try {
    await failing;
    return true;
  } catch (error) {
    if (error instanceof ActivityNotFoundError) return false;
    throw error;
  }
}
