/** Starts workflow threads of our own, as the SDK's worker starts its. It hooks private modules of the SDK. */
import type { CompiledWorkerOptions } from '@temporalio/worker/lib/worker-options.js';
import type { WorkflowCreator } from '@temporalio/worker/lib/workflow/interface.js';
import {
  ThreadedVMWorkflowCreator,
  type WorkerThreadClient,
} from '@temporalio/worker/lib/workflow/threaded-vm.js';
import type { WorkflowBundleWithSourceMapAndFilename } from '@temporalio/worker/lib/workflow/workflow-worker-thread/input.js';

/** Resolves when all have loaded the workflows. `timeoutMs` cuts off code that does not yield; undefined never does. */
export async function startThreads(
  { workflowThreadPoolSize, activities }: CompiledWorkerOptions,
  workflowBundle: WorkflowBundleWithSourceMapAndFilename,
  timeoutMs: number | undefined,
  startThread: () => WorkerThreadClient,
): Promise<WorkflowCreator> {
  const threads = Array.from({ length: workflowThreadPoolSize }, startThread);
  const init = {
    type: 'init',
    workflowBundle,
    // May be absent, as in Node's vm; the SDK's types require a value.
    isolateExecutionTimeoutMs: timeoutMs as number,
    reuseV8Context: true,
    registeredActivityNames: new Set(activities.keys()),
    hasPatchActivationCallback: false,
  } as const;
  await Promise.all(threads.map((thread) => thread.send(init)));
  return new ThreadedVMWorkflowCreator(threads);
}
