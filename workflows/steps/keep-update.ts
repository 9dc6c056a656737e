/** Makes an update durable before its handler has an effect. */
import { CancellationScope, currentUpdateInfo, sleep } from '@temporalio/workflow';

/**
 * Resolves with the id of the update that the current handler answers, when the history contains it; at once, with
 * undefined, in a handler of a signal, which is there from the beginning. Temporal learns of an accepted update when the workflow task ends. If it is killed
 * before that, the update is gone, and what a local activity has written by then is known to nobody: the run would wait
 * for a decision that its row already has. A timer ends the workflow task.
 */
export async function keepUpdate(): Promise<string | undefined> {
  const update = currentUpdateInfo();
  if (update !== undefined) await CancellationScope.nonCancellable(() => sleep(1));
  return update?.id;
}
