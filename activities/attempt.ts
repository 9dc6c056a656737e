/** One attempt of an activity's work, in any activity. */
import { CancelledFailure, Context } from '@temporalio/activity';

export interface Attempt {
  /** Counts from 1. */
  readonly number: number;
  readonly signal: AbortSignal;
  readonly runId: string;
}

/** Temporal's message of the CancelledFailure that aborts the signal when the workflow cancels its activity. */
export const STOPPED = 'CANCELLED';

/** Whether the workflow cancelled it; otherwise its worker shuts down, or the server believed the worker dead. */
export function isStopped({ aborted, reason }: AbortSignal): boolean {
  return aborted && reason instanceof CancelledFailure && reason.message === STOPPED;
}

export function attemptNow(): Attempt {
  const { info, cancellationSignal: signal } = Context.current();
  return { number: info.attempt, signal, runId: info.workflowExecution?.runId ?? '' };
}
