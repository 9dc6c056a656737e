/**
 * The SDK's worker without three habits of its workflow threads that cost most of an activation (docs/performance.md).
 * It does not record where each promise was created, for the `Call Stack` tab of Temporal's web UI. It uses one timer
 * in place of a watcher thread that starts and ends for each call into the sandbox. It does not ask after each
 * activation whether the workflow logged anything.
 */
import { Worker as Thread } from 'node:worker_threads';
import type { Logger } from '@temporalio/common';
import { Worker } from '@temporalio/worker';
import type { CompiledWorkerOptions } from '@temporalio/worker/lib/worker-options.js';
import type { WorkflowCreator } from '@temporalio/worker/lib/workflow/interface.js';
import { WorkerThreadClient } from '@temporalio/worker/lib/workflow/threaded-vm.js';
import type {
  WorkerThreadInput,
  WorkflowBundleWithSourceMapAndFilename,
} from '@temporalio/worker/lib/workflow/workflow-worker-thread/input.js';
import type {
  ActivationCompletion,
  WorkerThreadOutput,
} from '@temporalio/worker/lib/workflow/workflow-worker-thread/output.js';

import { startThreads } from '../start-threads.ts';

const THREAD = new URL('./lean-thread.ts', import.meta.url);

/** Three times the server's workflow task timeout; an activation takes milliseconds. */
const STUCK_MS = 30_000;

/** For `Worker.create`. `__stack_trace` queries fail with an error that explains this. */
export class LeanWorker extends Worker {
  protected static override createWorkflowCreator(
    bundle: WorkflowBundleWithSourceMapAndFilename,
    options: CompiledWorkerOptions,
    logger: Logger,
  ): Promise<WorkflowCreator> {
    return startThreads(options, bundle, undefined, () => new WatchedThread(new Thread(THREAD), logger));
  }
}

/** An activation's completion as our threads return it. */
export interface Quiet extends ActivationCompletion {
  /** The workflow has called no sink since its calls were last requested. */
  quiet?: boolean;
}

/**
 * Ends a thread that a workflow blocks; the worker fails with it, and its starter starts another. It requests a
 * workflow's sink calls only when there are some.
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
