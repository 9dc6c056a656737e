/** The task of a team's board that delegated work is: claimed before the work, ended after its end is recorded. */
import { ActivityFailure, isCancellation, log, proxyActivities } from '@temporalio/workflow';
import type { AssignmentKey, LinkedTaskActivities } from '#domain/assignment/assignment.ts';
import { ANNOUNCEMENT } from '../activity-options.ts';

/** A board that does not answer must not keep the giver from the result. */
const LINKED_TASK = { ...ANNOUNCEMENT, scheduleToCloseTimeout: '10 minutes' } as const;

/** Returns why the work cannot have it. */
export async function claimLinkedTask({ tenant, id }: AssignmentKey): Promise<string | undefined> {
  const { claim_linked_task } = proxyActivities<LinkedTaskActivities>({
    ...LINKED_TASK,
    summary: 'claims the task',
  });
  try {
    await claim_linked_task({ tenant, id });
    return undefined;
  } catch (error) {
    if (!(error instanceof ActivityFailure) || isCancellation(error)) throw error;
    return error.cause?.message ?? 'the board does not answer';
  }
}

export async function closeLinkedTask({ tenant, id }: AssignmentKey): Promise<void> {
  const { close_linked_task } = proxyActivities<LinkedTaskActivities>({
    ...LINKED_TASK,
    summary: 'ends the task',
  });
  try {
    await close_linked_task({ tenant, id });
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    log.warn('the task of the work could not be ended', { problem: error.cause?.message ?? '' });
  }
}
