/** The SDK's worker, in which a workflow that never yields costs its own task and nothing else (DU-12). */
import { Worker as Thread } from 'node:worker_threads';
import type { Logger } from '@temporalio/common';
import { Worker } from '@temporalio/worker';
import type { CompiledWorkerOptions } from '@temporalio/worker/lib/worker-options.js';
import type { WorkflowCreator } from '@temporalio/worker/lib/workflow/interface.js';
import { WorkerThreadClient } from '@temporalio/worker/lib/workflow/threaded-vm.js';
import type { WorkflowBundleWithSourceMapAndFilename } from '@temporalio/worker/lib/workflow/workflow-worker-thread/input.js';
import { startThreads } from '../start-threads.ts';

const THREAD = new URL('./contained-thread.ts', import.meta.url);

/** For `Worker.create`. */
export class ContainedWorker extends Worker {
  protected static override createWorkflowCreator(
    bundle: WorkflowBundleWithSourceMapAndFilename,
    options: CompiledWorkerOptions,
    logger: Logger,
  ): Promise<WorkflowCreator> {
    const startThread = () => new WorkerThreadClient(new Thread(THREAD), logger);
    return startThreads(options, bundle, options.isolateExecutionTimeoutMs, startThread);
  }
}
