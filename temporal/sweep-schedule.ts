/**
 * The Temporal Schedule that starts the sweep. Each worker creates or updates it at its start, so it always has this
 * release's form.
 */
import { type ScheduleClient, ScheduleAlreadyRunning } from '@temporalio/client';
import { SWEEP, type SweepInput, sweepId } from '#domain/sweep.ts';

/** Safe to repeat, also concurrently. A paused schedule stays paused. */
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
      // A stuck run is ended, so that the next can start.
      workflowRunTimeout: 2 * SWEEP.runSeconds * 1000,
      staticSummary: 'looks after lost work, old rows and sandboxes that are over',
    },
  };
  // Each minute, so that the sweep is never absent for longer; a running one is left alone.
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
