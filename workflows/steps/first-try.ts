/** One attempt of work that otherwise runs as an ordinary activity: in the workflow task, or where it started. */
import { ApplicationFailure, CancellationScope, sleep, TemporalFailure } from '@temporalio/workflow';
import { causeOf } from './failure-cause.ts';

/** Undefined when it has failed in a way that a retry may repair, after the wait for it. */
export async function firstTry<Result>(run: () => Promise<Result>): Promise<Result | undefined> {
  try {
    return await run();
  } catch (error) {
    // A worker that shuts down cancels its activities too.
    if (!(error instanceof TemporalFailure) || CancellationScope.current().consideredCancelled) throw error;
    const cause = causeOf(error);
    if (cause instanceof ApplicationFailure) {
      if (cause.nonRetryable) throw error;
      const wait = requestedWait(cause);
      if (wait > 0) await sleep(wait);
    }
    return undefined;
  }
}

/** Milliseconds. The SDK does not decode them into `nextRetryDelay`, but keeps the message that has them. */
function requestedWait({ failure }: ApplicationFailure): number {
  const { seconds, nanos } = failure?.applicationFailureInfo?.nextRetryDelay ?? {};
  return Number(seconds ?? 0) * 1_000 + Math.ceil((nanos ?? 0) / 1_000_000);
}
