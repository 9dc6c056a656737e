/** Unwraps the cause of a failure from Temporal's errors. */
import {
  ActivityFailure,
  ApplicationFailure,
  ChildWorkflowFailure,
  type TemporalFailure,
} from '@temporalio/workflow';

/** The cause in an activity or a child; a local activity throws it directly. */
export function causeOf(failure: TemporalFailure): Error | undefined {
  return failure instanceof ActivityFailure || failure instanceof ChildWorkflowFailure
    ? failure.cause
    : failure;
}

/** The reason in words, for a failure that ends a turn. */
export function reasonOf(failure: ActivityFailure | ApplicationFailure): { code: string; message: string } {
  const cause = causeOf(failure);
  if (cause instanceof ApplicationFailure) return { code: cause.type ?? 'Internal', message: cause.message };
  const name = failure instanceof ActivityFailure ? failure.activityType : 'an activity';
  return { code: 'Unavailable', message: `${name} did not end: ${cause?.message ?? failure.message}` };
}
