/** One try within the workflow task, of what is tried as an activity of its own when that fails. */
import { ActivityFailure, ApplicationFailure, isCancellation, sleep } from '@temporalio/workflow';

/** Undefined when it has failed in a way that another try may mend, and the time until then is over. */
export async function onceInTask<Result>(local: () => Promise<Result>): Promise<Result | undefined> {
  try {
    return await local();
  } catch (error) {
    if (isCancellation(error) || !(error instanceof ActivityFailure)) throw error;
    const { cause } = error;
    if (cause instanceof ApplicationFailure) {
      if (cause.nonRetryable) throw error;
      if (cause.nextRetryDelay) await sleep(cause.nextRetryDelay);
    }
    return undefined;
  }
}
