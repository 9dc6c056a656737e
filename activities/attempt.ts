/** One try of an activity's work, whichever activity it runs in. */
import { CancelledFailure, Context } from '@temporalio/activity';

export interface Attempt {
  /** From 1. */
  readonly number: number;
  readonly signal: AbortSignal;
  readonly runId: string;
}

/** The message of the CancelledFailure that a signal is aborted with when the workflow cancels its activity; Temporal's word. */
export const STOPPED = 'CANCELLED';

/** Whether the workflow wants it to end; else it is the end of its worker, or the server took that for dead. */
export function isStopped({ aborted, reason }: AbortSignal): boolean {
  return aborted && reason instanceof CancelledFailure && reason.message === STOPPED;
}

export function attemptNow(): Attempt {
  const { info, cancellationSignal: signal } = Context.current();
  return { number: info.attempt, signal, runId: info.workflowExecution?.runId ?? '' };
}
