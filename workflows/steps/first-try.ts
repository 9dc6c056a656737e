/** One try of what is tried in another way when it fails: in the workflow task, or where it was begun. */
import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  ChildWorkflowFailure,
  sleep,
  TemporalFailure,
} from '@temporalio/workflow';

/** Undefined when it has failed in a way that another try may mend, and the time until then is over. */
export async function firstTry<Result>(run: () => Promise<Result>): Promise<Result | undefined> {
  try {
    return await run();
  } catch (error) {
    // A worker that shuts down cancels its activities too.
    if (!(error instanceof TemporalFailure) || CancellationScope.current().consideredCancelled) throw error;
    const cause = causeOf(error);
    if (cause instanceof ApplicationFailure) {
      if (cause.nonRetryable) throw error;
      if (cause.nextRetryDelay) await sleep(cause.nextRetryDelay);
    }
    return undefined;
  }
}

/** What went wrong in an activity or a child; a local activity throws it as it is. */
export function causeOf(failure: TemporalFailure): Error | undefined {
  return failure instanceof ActivityFailure || failure instanceof ChildWorkflowFailure
    ? failure.cause
    : failure;
}

/** In words, of a failure that ends a turn. */
export function reasonOf(failure: ActivityFailure | ApplicationFailure): { code: string; message: string } {
  const cause = causeOf(failure);
  if (cause instanceof ApplicationFailure) return { code: cause.type ?? 'Internal', message: cause.message };
  const name = failure instanceof ActivityFailure ? failure.activityType : 'an activity';
  return { code: 'Unavailable', message: `${name} did not end: ${cause?.message ?? failure.message}` };
}
