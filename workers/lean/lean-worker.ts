/**
 * The SDK's worker with three habits of its workflow threads left out that are most of what an activation costs
 * (docs/performance.md): a note of where each promise was made, kept for the `Call Stack` tab of Temporal's web UI; a watching
 * thread that is begun and ended for each of the several calls into the sandbox, where one timer beside it does; and the
 * question after each activation whether the workflow logged anything.
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
import type {
  ActivationCompletion,
  WorkerThreadOutput,
} from '@temporalio/worker/lib/workflow/workflow-worker-thread/output.js';

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

/** An activation's answer as our threads give it. */
export interface Quiet extends ActivationCompletion {
  /** The workflow has called no sink since it was last asked for its calls. */
  quiet?: boolean;
}

/**
 * Ends a thread that a workflow does not give back; the worker fails with it, and whoever started it starts another. Asks
 * for a workflow's sink calls only where there are some.
 */
export class WatchedThread extends WorkerThreadClient {
  private readonly stuckMs: number;
  private readonly quietRuns = new Set<string>();

  constructor(thread: Thread, logger: Logger, stuckMs: number = STUCK_MS) {
    super(thread, logger);
    this.stuckMs = stuckMs;
  }

  override async send(input: WorkerThreadInput): Promise<WorkerThreadOutput> {
    const run = 'runId' in input ? input.runId : '';
    const quiet = this.quietRuns.delete(run);
    if (quiet && input.type === 'extract-sink-calls') return { type: 'sink-calls', calls: [] };
    const output: Quiet | WorkerThreadOutput = await this.watched(input, run);
    if (output && 'quiet' in output && output.quiet) this.quietRuns.add(run);
    return output;
  }

  private async watched(input: WorkerThreadInput, runId: string): Promise<WorkerThreadOutput> {
    const watch = setTimeout(() => {
      this.logger.error(`a workflow has not yielded for ${this.stuckMs} ms; this worker ends`, { runId });
      void this.workerThread.terminate();
    }, this.stuckMs);
    try {
      return await super.send(input);
    } finally {
      clearTimeout(watch);
    }
  }
}
