/** The SDK's worker, in which a workflow that never yields costs its own task and nothing else (DU-12). */
import { Worker as Thread } from 'node:worker_threads';
import type { Logger } from '@temporalio/common';
import { Worker } from '@temporalio/worker';
import type { CompiledWorkerOptions } from '@temporalio/worker/lib/worker-options.js';
import type { WorkflowCreator } from '@temporalio/worker/lib/workflow/interface.js';
import {
  ThreadedVMWorkflowCreator,
  WorkerThreadClient,
} from '@temporalio/worker/lib/workflow/threaded-vm.js';
import type { WorkflowBundleWithSourceMapAndFilename } from '@temporalio/worker/lib/workflow/workflow-worker-thread/input.js';

const THREAD = new URL('./contained-thread.ts', import.meta.url);

/** For `Worker.create`. */
export class ContainedWorker extends Worker {
  protected static override async createWorkflowCreator(
    workflowBundle: WorkflowBundleWithSourceMapAndFilename,
    options: CompiledWorkerOptions,
    logger: Logger,
  ): Promise<WorkflowCreator> {
    const threads = Array.from(
      { length: options.workflowThreadPoolSize },
      () => new WorkerThreadClient(new Thread(THREAD), logger),
    );
    const init = {
      type: 'init' as const,
      workflowBundle,
      isolateExecutionTimeoutMs: options.isolateExecutionTimeoutMs,
      reuseV8Context: true,
      registeredActivityNames: new Set(options.activities.keys()),
      hasPatchActivationCallback: false,
    };
    await Promise.all(threads.map((thread) => thread.send(init)));
    return new ThreadedVMWorkflowCreator(threads);
  }
}
