/** The Temporal Schedule that starts the sweep: made by each worker that starts, so it is there, and as this release has it. */
import { type ScheduleClient, ScheduleAlreadyRunning } from '@temporalio/client';
import { SWEEP, type SweepInput, sweepId } from '#domain/sweep.ts';

/** Safe to repeat, and at several places at once. Whoever has paused it finds it paused. */
export async function ensureSweepSchedule(schedules: ScheduleClient, taskQueue: string): Promise<void> {
  const scheduleId = sweepId(taskQueue);
  const definition = {
    spec: { intervals: [{ every: `${SWEEP.everySeconds} seconds` as const }] },
    action: {
      type: 'startWorkflow' as const,
      workflowType: SWEEP.type,
      workflowId: scheduleId,
      taskQueue,
      args: [{ seconds: SWEEP.runSeconds } satisfies SweepInput],
      // One that cannot go on makes room for the next.
      workflowRunTimeout: 2 * SWEEP.runSeconds * 1000,
      staticSummary: 'looks after lost work, old rows and sandboxes that are over',
    },
  };
  // Each minute, so that a run that somebody has ended is missed for no longer; what runs is left alone.
  const policies = { overlap: 'SKIP' as const, catchupWindow: '10 seconds' as const };
  try {
    await schedules.create({ scheduleId, ...definition, policies });
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    await schedules
      .getHandle(scheduleId)
      .update(({ state, searchAttributes }) => ({ ...definition, policies, state, searchAttributes }));
  }
}
