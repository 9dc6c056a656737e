/** Replays histories as the workers of the test run would. */
import type { ReplayWorkerOptions, ReplayResult } from '@temporalio/worker';
import { bundleWorkflows } from '#workers/bundle.ts';
import { ContainedWorker } from '#workers/contained/contained-worker.ts';
import { quietRuntime } from './quiet-runtime.ts';
import { SharedLeanWorker } from './shared-threads.ts';

export interface ReplayedHistory {
  readonly workflowId: string;
  readonly history: unknown;
}

/**
 * Replays on a workflow thread. By default, the SDK replays in this thread, which leaves a hook on every promise of the
 * process and makes everything afterwards several times slower. Code that `mayBlock`, because it never yields, ends only
 * contained threads with an answer.
 */
export function replayHistories(
  workflowBundle: { readonly code: string },
  histories: AsyncIterable<ReplayedHistory> | Iterable<ReplayedHistory>,
  encoding: Pick<ReplayWorkerOptions, 'dataConverter'> = {},
  mayBlock = false,
): AsyncIterableIterator<ReplayResult> {
  quietRuntime();
  const options = { ...encoding, workflowBundle, debugMode: false };
  const kind = mayBlock ? ContainedWorker : SharedLeanWorker;
  return kind.runReplayHistories(options, histories);
}

/** The core's workflows with those of a test's file. */
export function bundleWith(file: URL): Promise<{ readonly code: string }> {
  return bundleWorkflows([{ workflows: [file] }]);
}
