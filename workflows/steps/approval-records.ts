/** Records of an approval. What a frozen tenant refuses waits in the history. */
import {
  ApplicationFailure,
  CancellationScope,
  proxyLocalActivities,
  sleep,
  TemporalFailure,
} from '@temporalio/workflow';
import type { ApprovalActivities } from '#domain/approval/approval.ts';
import { RECORD } from '../activity-options.ts';
import { causeOf } from './failure-cause.ts';

const local = proxyLocalActivities<ApprovalActivities>(RECORD);

export const settle_approval: ApprovalActivities['settle_approval'] = (input) =>
  whenThawed(() => local.settle_approval(input));
export const note_approval: ApprovalActivities['note_approval'] = (input) =>
  whenThawed(() => local.note_approval(input));

const LOOK_AGAIN = '2 seconds';

/**
 * Repeats a record until its tenant is no longer frozen. Retries of a local activity run in the worker and outlive a
 * run that is terminated so that its tenant can move; they would record for the run that goes on in its place. A
 * timer ends with its run.
 */
async function whenThawed<Result>(record: () => Promise<Result>): Promise<Result> {
  for (;;) {
    try {
      return await record();
    } catch (error) {
      const cause = error instanceof TemporalFailure ? causeOf(error) : undefined;
      if (!(cause instanceof ApplicationFailure && cause.type === 'TenantFrozen')) throw error;
    }
    await CancellationScope.nonCancellable(() => sleep(LOOK_AGAIN));
  }
}
