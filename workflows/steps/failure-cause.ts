/** What went wrong, out of what Temporal wraps it in. */
import {
  ActivityFailure,
  ApplicationFailure,
  ChildWorkflowFailure,
  type TemporalFailure,
} from '@temporalio/workflow';

/** In an activity or a child; a local activity throws it as it is. */
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
