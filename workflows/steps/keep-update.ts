/** Makes an update durable before its handler has an effect. */
import { CancellationScope, currentUpdateInfo, proxyActivities } from '@temporalio/workflow';
import type { ApprovalActivities } from '#domain/approval/approval.ts';
import { KEPT_UPDATE } from '../activity-options.ts';

const { keep_update } = proxyActivities<Pick<ApprovalActivities, 'keep_update'>>(KEPT_UPDATE);

/**
 * Resolves with the id of the update that the current handler answers, when the history contains it; at once, with
 * undefined, in a handler of a signal, which is there from the beginning. Temporal learns of an accepted update when the
 * workflow task ends. If it is killed before that, the update is gone, and what a local activity has written by then is
 * known to nobody: the run would wait for a decision that its row already has. An ordinary activity ends the task, and
 * its result begins the next one within milliseconds. A timer would take a second, because servers read their timers
 * together, and a large decision would be in the history twice if an ordinary activity recorded it.
 */
export async function keepUpdate(): Promise<string | undefined> {
  const update = currentUpdateInfo();
  if (update !== undefined) await CancellationScope.nonCancellable(() => keep_update());
  return update?.id;
}
