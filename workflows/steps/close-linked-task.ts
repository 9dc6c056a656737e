/** Closes the task of a team's board that work has done, after the work's end is recorded. */
import { ActivityFailure, log, proxyActivities } from '@temporalio/workflow';
import type { AssignmentActivities, AssignmentKey } from '#domain/assignment/assignment.ts';
import { ANNOUNCEMENT } from '../activity-options.ts';

const board = proxyActivities<AssignmentActivities>({ ...ANNOUNCEMENT, summary: 'closes the task' });

/** What the board refuses must not keep the giver from the result. */
export async function closeLinkedTask({ tenant, id }: AssignmentKey): Promise<void> {
  try {
    await board.close_linked_task({ tenant, id });
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    log.warn('the task of some work could not be closed', { problem: error.cause?.message ?? '' });
  }
}
