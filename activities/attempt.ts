/** One try of an activity's work, whichever activity it runs in. */
import { CancelledFailure, Context } from '@temporalio/activity';

export interface Attempt {
  /** From 1. */
  readonly number: number;
  readonly signal: AbortSignal;
  readonly runId: string;
  /** Whether a workflow task waits for it now: then what its result asks for comes next there, before anybody's word. */
  readonly isAwaited: () => boolean;
  /** Has the workflow task go on without it, since it lasts. */
  readonly leave: () => void;
}

/** The message of the CancelledFailure that a signal is aborted with when the workflow cancels its activity; Temporal's word. */
export const STOPPED = 'CANCELLED';

/** Whether the workflow wants it to end; else it is the end of its worker, or the server took that for dead. */
export function isStopped({ aborted, reason }: AbortSignal): boolean {
  return aborted && reason instanceof CancelledFailure && reason.message === STOPPED;
}

/** `before`: attempts that were made before this activity's own. */
export function attemptNow(before = 0): Attempt {
  const { info, cancellationSignal: signal } = Context.current();
  const runId = info.workflowExecution?.runId ?? '';
  return {
    number: info.attempt + before,
    signal,
    runId,
    isAwaited: () => info.isLocal,
    leave: () => undefined,
  };
}
