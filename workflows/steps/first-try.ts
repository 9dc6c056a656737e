/** One try of what is tried in another way when it fails: in the workflow task, or where it was begun. */
import { ActivityFailure, ApplicationFailure, CancellationScope, sleep } from '@temporalio/workflow';

/** Undefined when it has failed in a way that another try may mend, and the time until then is over. */
export async function firstTry<Result>(run: () => Promise<Result>): Promise<Result | undefined> {
  try {
    return await run();
  } catch (error) {
    // A worker that shuts down cancels its activities too.
    if (!(error instanceof ActivityFailure) || CancellationScope.current().consideredCancelled) throw error;
    const { cause } = error;
    if (cause instanceof ApplicationFailure) {
      if (cause.nonRetryable) throw error;
      if (cause.nextRetryDelay) await sleep(cause.nextRetryDelay);
    }
    return undefined;
  }
}
