/**
 * Workers whose workflow threads stay when they end, for the next worker of the test process. Starting a thread and
 * evaluating the workflows takes longer than many tests, and a run leaves nothing in its thread. Two workers never use a
 * thread at the same time, because both may have the same run.
 */
import { Worker as Thread } from 'node:worker_threads';
import type { Logger } from '@temporalio/common';
import { Worker } from '@temporalio/worker';
import type { CompiledWorkerOptions } from '@temporalio/worker/lib/worker-options.js';
import type { WorkflowCreator } from '@temporalio/worker/lib/workflow/interface.js';
import { WorkerThreadClient } from '@temporalio/worker/lib/workflow/threaded-vm.js';
import type { WorkflowBundleWithSourceMapAndFilename as Bundle } from '@temporalio/worker/lib/workflow/workflow-worker-thread/input.js';
import { WatchedThread } from '#workers/lean/lean-worker.ts';
import { startThreads } from '#workers/start-threads.ts';

const THREADS = {
  contained: new URL('./contained-test-thread.ts', import.meta.url),
  lean: new URL(import.meta.resolve('#workers/lean/lean-thread.ts')),
};

interface StartedThread {
  readonly thread: Thread;
  readonly creator: Promise<WorkflowCreator>;
  hasEnded: boolean;
}

/** By their code. */
const bundles = new Map<string, Promise<Bundle | undefined>>();

/** Threads without a worker, by their kind, the workflows and the names of the activities. */
const idle = new Map<string, StartedThread[]>();

/** The SDK's worker with threads like those of ContainedWorker, which record no stacks. */
export class SharedWorker extends Worker {
  protected static override getOrCreateBundle(
    options: CompiledWorkerOptions,
    logger: Logger,
  ): Promise<Bundle | undefined> {
    const { workflowBundle } = options;
    if (!workflowBundle || !('code' in workflowBundle)) return super.getOrCreateBundle(options, logger);
    const bundle = bundles.get(workflowBundle.code) ?? super.getOrCreateBundle(options, logger);
    bundles.set(workflowBundle.code, bundle);
    return bundle;
  }

  protected static override createWorkflowCreator(
    bundle: Bundle,
    options: CompiledWorkerOptions,
    logger: Logger,
  ): Promise<WorkflowCreator> {
    const timeout = options.isolateExecutionTimeoutMs;
    const kind = { name: 'contained', timeout, client: WorkerThreadClient } as const;
    return creatorOf(kind, bundle, options, logger);
  }
}

/** The same with threads like those of LeanWorker, for replays: nobody requests a stack of theirs. */
export class SharedLeanWorker extends SharedWorker {
  protected static override createWorkflowCreator(
    bundle: Bundle,
    options: CompiledWorkerOptions,
    logger: Logger,
  ): Promise<WorkflowCreator> {
    const kind = { name: 'lean', timeout: undefined, client: WatchedThread } as const;
    return creatorOf(kind, bundle, options, logger);
  }
}

interface ThreadKind {
  readonly name: 'contained' | 'lean';
  /** Milliseconds after which code that does not yield is cut off. */
  readonly timeout: number | undefined;
  readonly client: typeof WorkerThreadClient | typeof WatchedThread;
}

async function creatorOf(
  kind: ThreadKind,
  bundle: Bundle,
  options: CompiledWorkerOptions,
  logger: Logger,
): Promise<WorkflowCreator> {
  const activities = [...options.activities.keys()].toSorted();
  const name = [kind.name, kind.timeout, ...activities, bundle.code].join('\n');
  const waiting = (idle.get(name) ?? []).filter(({ hasEnded }) => !hasEnded);
  idle.set(name, waiting);
  const started = waiting.pop() ?? startThread(kind, bundle, options, logger);
  started.thread.ref();
  const creator = await started.creator;
  return {
    createWorkflow: (input) => creator.createWorkflow(input),
    async destroy() {
      // A thread without a worker does not keep the process running.
      started.thread.unref();
      idle.get(name)?.push(started);
    },
  };
}

function startThread(
  { name, timeout, client: Client }: ThreadKind,
  bundle: Bundle,
  options: CompiledWorkerOptions,
  logger: Logger,
): StartedThread {
  const thread = new Thread(THREADS[name]);
  const creator = startThreads(options, bundle, timeout, () => new Client(thread, logger));
  const started = { thread, creator, hasEnded: false };
  thread.once('exit', () => (started.hasEnded = true));
  return started;
}
