/** One firing of a schedule: a Temporal Schedule starts it at its instant, or somebody who wants a run now (docs/schedules.md). */
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { proxyActivities, setCurrentDetails, workflowInfo } from '@temporalio/workflow';
import type { ScheduleActivities, ScheduledMessageInput, ScheduledRun } from '#domain/schedule.ts';
import { inputProblem } from '#domain/start-problem.ts';
import { SCHEDULED } from './activity-options.ts';
import { refuseWrongStart } from './steps/refuse-start.ts';

const { start_scheduled_run } = proxyActivities<ScheduleActivities>(SCHEDULED);

/** Temporal's own: the instant that it was for, however late it began. */
const INSTANT = defineSearchAttributeKey('TemporalScheduledStartTime', SearchAttributeType.DATETIME);

export async function scheduledMessage(input: ScheduledMessageInput): Promise<ScheduledRun> {
  refuseWrongStart(inputProblem('scheduledMessage', input, ['tenant', 'schedule'], []));
  const { typedSearchAttributes, startTime } = workflowInfo();
  const at = input.at ?? (typedSearchAttributes.get(INSTANT) ?? startTime).toISOString();
  const run = await start_scheduled_run({ ...input, at });
  const where = run.session === undefined ? '' : ` in the session ${run.session}, turn ${run.turn ?? ''}`;
  setCurrentDetails(`${at}: ${run.reason ?? run.state}${where}`);
  return run;
}
