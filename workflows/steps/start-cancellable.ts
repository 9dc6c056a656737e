/** Starts children whose cancellation always reaches them. */
import type { WithWorkflowArgs, Workflow } from '@temporalio/common';
import {
  CancellationScope,
  type ChildWorkflowHandle,
  type ChildWorkflowOptions,
  startChild,
} from '@temporalio/workflow';

/**
 * Like `startChild`, in the current scope, but a cancellation waits for the start. Temporal does not find a child that is
 * still being started: it would drop the request, and this workflow would wait for a child that nobody has cancelled.
 */
export async function startCancellable<Child extends Workflow>(
  type: string,
  options: WithWorkflowArgs<Child, ChildWorkflowOptions>,
): Promise<ChildWorkflowHandle<Child>> {
  const outer = CancellationScope.current();
  if (outer.consideredCancelled) await outer.cancelRequested;
  return CancellationScope.nonCancellable(async () => {
    const own = new CancellationScope();
    const child = await own.run(() => startChild<Child>(type, options));
    outer.cancelRequested.catch(() => own.cancel());
    return child;
  });
}
