/**
 * The Temporal Schedules that send messages: one for each row of `schedules`, made and changed only as its row says.
 */
import { ScheduleNotFoundError } from '@temporalio/client';
import type { CalendarSpec, Month } from '@temporalio/client';
import { SCHEDULED_MESSAGE, type ScheduledMessageInput } from '../contract/schedule.ts';
import type { TemporalClients } from '#temporal/client.ts';
import { searchAttributes } from '#temporal/reach-workflows.ts';

/** The intended state of a Temporal Schedule. */
export interface SchedulePlan {
  readonly id: string;
  readonly input: ScheduledMessageInput;
  /** Either instants, or an interval. */
  readonly when:
    | { readonly instants: readonly Date[] }
    | { readonly everySeconds: number; readonly offsetSeconds: number; readonly from: Date };
  readonly isPaused: boolean;
  readonly catchupSeconds: number;
  /** Text for people in the web UI. */
  readonly summary: string;
  readonly note: string;
  readonly tenant: string;
  readonly agent: string;
}

export interface MessageSchedules {
  /** Creates it, or changes it into this. Safe to repeat. Throws Failures. */
  put(plan: SchedulePlan): Promise<void>;
  /** Also succeeds when it does not exist. Throws Failures. */
  remove(id: string): Promise<void>;
}

export function messageSchedulesOf({
  schedule: client,
  taskQueue,
  ask,
}: Pick<TemporalClients, 'schedule' | 'taskQueue' | 'ask'>): MessageSchedules {
  async function put(plan: SchedulePlan): Promise<void> {
    const typedSearchAttributes = searchAttributes(plan);
    const definition = {
      spec: specOf(plan.when),
      action: {
        type: 'startWorkflow' as const,
        workflowType: SCHEDULED_MESSAGE,
        workflowId: plan.id,
        taskQueue,
        args: [plan.input] as [unknown],
        staticSummary: plan.summary,
        typedSearchAttributes,
      },
      // Rows decide on overlaps and on late runs, so Temporal must never skip one.
      policies: { overlap: 'ALLOW_ALL' as const, catchupWindow: plan.catchupSeconds * 1000 },
      state: { paused: plan.isPaused, note: plan.note },
      typedSearchAttributes,
    };
    try {
      await client.getHandle(plan.id).update(() => definition);
    } catch (error) {
      if (!(error instanceof ScheduleNotFoundError)) throw error;
      await client.create({ scheduleId: plan.id, ...definition });
    }
  }
  return {
    put: (plan) => ask(() => put(plan)),
    remove: (id) =>
      ask(async () => {
        await client
          .getHandle(id)
          .delete()
          .catch((error: unknown) => {
            if (!(error instanceof ScheduleNotFoundError)) throw error;
          });
      }),
  };
}

const MONTH = new Intl.DateTimeFormat('en', { month: 'long', timeZone: 'UTC' });

/** One instant, in UTC. */
function calendarOf(at: Date): CalendarSpec {
  return {
    year: at.getUTCFullYear(),
    month: MONTH.format(at).toUpperCase() as Month,
    dayOfMonth: at.getUTCDate(),
    hour: at.getUTCHours(),
    minute: at.getUTCMinutes(),
    second: at.getUTCSeconds(),
  };
}

function specOf(when: SchedulePlan['when']) {
  if ('instants' in when) return { calendars: when.instants.map(calendarOf) };
  const { everySeconds, offsetSeconds, from } = when;
  // Its first run is an interval after `from`.
  const startAt = new Date(from.getTime() + 1000);
  return { intervals: [{ every: everySeconds * 1000, offset: offsetSeconds * 1000 }], startAt };
}
