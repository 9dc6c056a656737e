/** Tells others of a task's changes, in their order, after they are recorded. */
import { ActivityFailure, CancellationScope, log, proxyActivities } from '@temporalio/workflow';
import type { TeamTaskActivities, TeamTaskInput } from '#domain/team/team-task.ts';
import { ANNOUNCEMENT } from '../../activity-options.ts';
import type { KnownTask, Notification } from './task-record.ts';

const remote = proxyActivities<TeamTaskActivities>({ ...ANNOUNCEMENT, summary: 'tells others' });

/** A notification that cannot be sent is still on the board. */
export async function notifyOthers(progress: KnownTask): Promise<void> {
  for (let notification = progress.pending.shift(); notification; notification = progress.pending.shift()) {
    try {
      await CancellationScope.nonCancellable(() => notifyOne(progress.input, notification));
    } catch (error) {
      if (!(error instanceof ActivityFailure)) throw error;
      log.warn('nobody could be told', { kind: notification.kind, problem: error.cause?.message ?? '' });
    }
  }
}

function notifyOne(input: TeamTaskInput, notification: Notification): Promise<void> {
  if (notification.kind === 'lead') {
    const { notice, revision } = notification;
    return remote.wake_lead({ ...input, notice, revision });
  }
  const { numbers, status } = notification;
  return remote.notify_dependents({ ...input, numbers, status });
}
