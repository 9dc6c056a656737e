/** Converts errors of activities into failures that tell Temporal whether to retry. */
import { ApplicationFailure, CancelledFailure, Context } from '@temporalio/activity';
import { Failure, FAILURES } from '#domain/errors.ts';
import { ModelError } from '#domain/model/model.ts';
import { isDatabaseFault } from '#store/postgres/pool.ts';

/** A model that fails this often in one step will fail again; the turn ends and reports the reason. */
const MODEL_ATTEMPTS = 6;

/** An unexpected error is retried because it may be transient, but not without end. */
const UNFORESEEN_ATTEMPTS = 5;

/**
 * For work that must succeed, such as the record of a turn's end: it is retried until it does, because giving up would
 * lose messages.
 */
export function recordFailure(error: unknown): unknown {
  const failure = activityFailure(error);
  if (!(failure instanceof ApplicationFailure) || !failure.nonRetryable) return failure;
  const { type, message } = failure;
  return ApplicationFailure.retryable(message, type);
}

/** Never returns undefined; cancellation is passed on unchanged. Adapters must scrub the messages of models. */
export function activityFailure(error: unknown): unknown {
  if (error instanceof CancelledFailure || error instanceof ApplicationFailure) return error;
  const context = Context.current();
  // An adapter may wrap the reason of the abort.
  if (context.cancellationSignal.aborted) return context.cancellationSignal.reason ?? error;
  const { attempt } = context.info;
  if (error instanceof ModelError) {
    const nonRetryable = !error.retryable || attempt >= MODEL_ATTEMPTS;
    return ApplicationFailure.create({
      type: 'ModelFailed',
      message: `${error.code}: ${error.message}`,
      nonRetryable,
      nextRetryDelay: error.retryAfterMs,
    });
  }
  if (error instanceof Failure)
    return ApplicationFailure.create({
      type: error.type,
      message: error.message,
      nonRetryable: !FAILURES[error.type].retryable,
    });
  if (isDatabaseFault(error))
    return ApplicationFailure.create({ type: 'Unavailable', message: messageOf(error) });
  return ApplicationFailure.create({
    type: 'Internal',
    message: messageOf(error),
    nonRetryable: attempt >= UNFORESEEN_ATTEMPTS,
  });
}

/** Wraps the activity so that its errors are converted by `asFailure`: `recordFailure` or `activityFailure`. */
export function failingAs<Input, Result>(
  asFailure: (error: unknown) => unknown,
  work: (input: Input) => Promise<Result>,
): (input: Input) => Promise<Result> {
  return async (input) => {
    try {
      return await work(input);
    } catch (error) {
      throw asFailure(error);
    }
  };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message.slice(0, 500) : 'unknown error';
}
