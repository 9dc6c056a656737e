/** A thread that runs workflows: the SDK's own, without what lean-worker.ts describes. */
import { type MessagePort, parentPort } from 'node:worker_threads';
import { ReusableVMWorkflowCreator } from '@temporalio/worker/lib/workflow/reusable-vm.js';
import { globalHandlers } from '@temporalio/worker/lib/workflow/vm-shared.js';
import type { WorkerThreadResponse } from '@temporalio/worker/lib/workflow/workflow-worker-thread/output.js';
import type { Quiet } from './lean-worker.ts';

// Without the hook, the SDK answers `__stack_trace` with an error that explains this.
Object.defineProperty(globalHandlers, 'setPromiseHook', { value: () => undefined });
if (parentPort) reportSinkCalls(parentPort);
await import('@temporalio/worker/lib/workflow/workflow-worker-thread.js');

/**
 * Reports with each completion whether the workflow has called a sink (logged), so that no separate request is needed.
 */
function reportSinkCalls(port: MessagePort): void {
  const post = port.postMessage.bind(port);
  port.postMessage = (response: WorkerThreadResponse): void => {
    const output = response.result.type === 'ok' ? response.result.output : undefined;
    if (output?.type === 'activation-completion' && !(output.completion instanceof Uint8Array)) {
      const workflow = ReusableVMWorkflowCreator.workflowByRunId.get(output.completion.runId ?? '');
      const activator: unknown = workflow && Reflect.get(workflow, 'activator');
      const calls: unknown = activator instanceof Object && Reflect.get(activator, 'sinkCalls');
      (output as Quiet).quiet = Array.isArray(calls) && calls.length === 0;
    }
    post(response);
  };
}
