/**
 * One firing of a schedule. A Temporal Schedule starts it at its instant, or somebody requests a run now
 * (docs/schedules.md).
 */
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { proxyActivities, setCurrentDetails, sleep, workflowInfo } from '@temporalio/workflow';
import type { ScheduleActivities, ScheduledMessageInput, ScheduledRun } from './contract/schedule.ts';
import { inputProblem } from '#domain/turn/start-problem.ts';
import { SCHEDULED } from '#workflows/activity-options.ts';
import { refuseWrongStart } from '#workflows/steps/refuse-start.ts';

const { start_scheduled_run, settle_heartbeat } = proxyActivities<ScheduleActivities>(SCHEDULED);

/** Temporal's own attribute: the instant that it was for, however late it started. */
const INSTANT = defineSearchAttributeKey('TemporalScheduledStartTime', SearchAttributeType.DATETIME);

export async function scheduledMessage(input: ScheduledMessageInput): Promise<ScheduledRun> {
  refuseWrongStart(inputProblem('scheduledMessage', input, ['tenant', 'schedule'], []));
  const { typedSearchAttributes, startTime } = workflowInfo();
  const at = input.at ?? (typedSearchAttributes.get(INSTANT) ?? startTime).toISOString();
  const report = ({ state, reason, session, turn }: ScheduledRun): void => {
    const where = session === undefined ? '' : ` in the session ${session}, turn ${turn ?? ''}`;
    setCurrentDetails(`${at}: ${reason ?? state}${where}`);
  };
  let run = await start_scheduled_run({ ...input, at });
  report(run);
  while (run.watch) {
    await sleep(run.watch.seconds * 1000);
    run = await settle_heartbeat({ tenant: input.tenant, schedule: input.schedule, key: run.watch.key });
    report(run);
  }
  return run;
}
