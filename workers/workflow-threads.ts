/**
 * The SDK's worker with two habits of its workflow threads left out that are most of what an activation costs
 * (docs/performance.md): a note of where each promise was made, kept for the `Call Stack` tab of Temporal's web UI, and a
 * watching thread that is begun and ended for each of the several calls into the sandbox. One timer beside it watches instead.
 */
import { Worker as Thread } from 'node:worker_threads';
import type { Logger } from '@temporalio/common';
import { Worker } from '@temporalio/worker';
import type { CompiledWorkerOptions } from '@temporalio/worker/lib/worker-options.js';
import type { WorkflowCreator } from '@temporalio/worker/lib/workflow/interface.js';
import {
  ThreadedVMWorkflowCreator,
  WorkerThreadClient,
} from '@temporalio/worker/lib/workflow/threaded-vm.js';
import type {
  WorkerThreadInput,
  WorkflowBundleWithSourceMapAndFilename,
} from '@temporalio/worker/lib/workflow/workflow-worker-thread/input.js';
import type { WorkerThreadOutput } from '@temporalio/worker/lib/workflow/workflow-worker-thread/output.js';

const THREAD = new URL('./workflow-thread.ts', import.meta.url);

/** Three times what the server waits for a workflow task; an activation takes milliseconds. */
const STUCK_MS = 30_000;

/** For `Worker.create`. `__stack_trace` queries are answered with an error that says so. */
export class LeanWorker extends Worker {
  protected static override async createWorkflowCreator(
    workflowBundle: WorkflowBundleWithSourceMapAndFilename,
    options: CompiledWorkerOptions,
    logger: Logger,
  ): Promise<WorkflowCreator> {
    const threads = Array.from(
      { length: options.workflowThreadPoolSize },
      () => new WatchedThread(new Thread(THREAD), logger),
    );
    const init: WorkerThreadInput = {
      type: 'init',
      workflowBundle,
      // Absent, as Node's vm has it: the types know only that the SDK always gives one.
      isolateExecutionTimeoutMs: undefined as unknown as number,
      reuseV8Context: true,
      registeredActivityNames: new Set(options.activities.keys()),
      hasPatchActivationCallback: false,
    };
    await Promise.all(threads.map((thread) => thread.send(init)));
    return new ThreadedVMWorkflowCreator(threads);
  }
}

/** Ends a thread that a workflow does not give back; the worker fails with it, and whoever started it starts another. */
export class WatchedThread extends WorkerThreadClient {
  private readonly stuckMs: number;

  constructor(thread: Thread, logger: Logger, stuckMs: number = STUCK_MS) {
    super(thread, logger);
    this.stuckMs = stuckMs;
  }

  override async send(input: WorkerThreadInput): Promise<WorkerThreadOutput> {
    const watch = setTimeout(() => {
      const of = 'runId' in input ? { runId: input.runId } : {};
      this.logger.error(`a workflow has not yielded for ${this.stuckMs} ms; this worker ends`, of);
      void this.workerThread.terminate();
    }, this.stuckMs);
    try {
      return await super.send(input);
    } finally {
      clearTimeout(watch);
    }
  }
}
