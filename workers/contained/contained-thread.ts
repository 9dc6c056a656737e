/**
 * A thread that runs workflows: the SDK's own, but what a run leaves waiting when it is cut off happens to that run. The
 * runs of a thread share one queue of microtasks. Whoever comes next in the thread would otherwise run them as its own,
 * or, when the run is removed, they would fail without an owner, which ends the thread and the worker with it.
 */
import { type Context, Script } from 'node:vm';
import { ReusableVMWorkflow } from '@temporalio/worker/lib/workflow/reusable-vm.js';

/** Far more than honest microtasks take. A run that exceeds it too loses them: V8 empties the queue. */
const REST_MS = 1_000;

const NOTHING = new Script('undefined');

const { activate } = ReusableVMWorkflow.prototype;
ReusableVMWorkflow.prototype.activate = async function (activation) {
  const completion = await activate.call(this, activation);
  if (completion.failed && this.context) runRest(this.context);
  return completion;
};

function runRest(context: Context): void {
  try {
    NOTHING.runInContext(context, { timeout: REST_MS });
  } catch {
    // The run has failed already, and its task is repeated from the history.
  }
}

await import('@temporalio/worker/lib/workflow/workflow-worker-thread.js');
