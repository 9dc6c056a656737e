/** Replays histories as the workers of the test run would. */
import { type ReplayWorkerOptions, type ReplayResult, Worker } from '@temporalio/worker';
import { quietRuntime } from './quiet-runtime.ts';

export interface ReplayedHistory {
  readonly workflowId: string;
  readonly history: unknown;
}

/**
 * On a workflow thread, not in this one as the SDK does by itself: that leaves a hook behind on every promise of the process, which
 * makes all that comes after several times slower.
 */
export function replayHistories(
  workflowBundle: { readonly code: string },
  histories: AsyncIterable<ReplayedHistory> | Iterable<ReplayedHistory>,
  encoding: Pick<ReplayWorkerOptions, 'dataConverter'> = {},
): AsyncIterableIterator<ReplayResult> {
  quietRuntime();
  const options = { ...encoding, workflowBundle, debugMode: false };
  return Worker.runReplayHistories(options, histories);
}
