/** Schedules: a message that an agent is sent at instants to come. The row says what; a Temporal Schedule says when, and follows the row. */
import type { HEARTBEAT_OUTCOMES } from './heartbeat.ts';
import type { scheduleCreateSchema, timingSchema } from '../schema/schedule.ts';
import type { Kept } from '#domain/schema/scalars.ts';

/** The workflow's type: one run of it is one firing. */
export const SCHEDULED_MESSAGE = 'scheduledMessage';

export type Timing = Kept<typeof timingSchema>;

export type NewSchedule = Kept<typeof scheduleCreateSchema>;

/** What a run does when an earlier one of the same schedule still works. */
export const OVERLAPS = ['skip', 'allow'] as const;

export const RUN_STATES = ['started', 'skipped', 'refused'] as const;

/** Whose rights a run has: those of then, less what has been taken away since. */
export interface ScheduleRights {
  /** Id of the API key behind it; none when a foreign Temporal client spoke. */
  readonly key?: string | undefined;
  readonly roles?: readonly string[] | undefined;
  readonly allowed_tools?: readonly string[] | undefined;
  /** The session whose agent made it: what that had read counts for its runs, and the agent needs the tool still. */
  readonly session?: string | undefined;
  readonly channel?: string | undefined;
  readonly chat_id?: string | undefined;
}

export const SCHEDULE_LIMITS = {
  /** Seconds between two runs. */
  gap: 10,
  perAgent: 50,
  perTenant: 1_000,
  message: 20_000,
  /** Seconds: a year. */
  catchup: 31_536_000,
  /** Instants that a Temporal Schedule holds; it gets more when half of them are over. */
  planned: 64,
  /** Instants that were missed and are made up for at a time. */
  madeUp: 100,
  /** Shown to who makes or lists one. */
  nextRuns: 5,
  /** Days that runs are listed for. */
  runsDays: 90,
} as const;

export interface ScheduledMessageInput {
  readonly tenant: string;
  readonly schedule: string;
  /** ISO 8601; absent when a Temporal Schedule starts it, which says it itself. */
  readonly at?: string;
  /** Somebody wanted it now: what makes this run one, however often it is asked for. */
  readonly forced?: string;
}

export interface ScheduledRun {
  readonly state: (typeof RUN_STATES)[number] | (typeof HEARTBEAT_OUTCOMES)[number] | 'gone';
  readonly reason?: string;
  readonly session?: string;
  readonly turn?: string;
  /** A heartbeat's: how its turn ends is looked at after so many seconds. */
  readonly watch?: { readonly key: string; readonly seconds: number } | undefined;
}

export interface ScheduleActivities {
  /** Safe to repeat, and at several places at once: one run for a schedule and instant. */
  start_scheduled_run(input: ScheduledMessageInput & { readonly at: string }): Promise<ScheduledRun>;
  /** What becomes of a heartbeat's turn: tried again, said, or quiet. Safe to repeat. */
  settle_heartbeat(input: {
    readonly tenant: string;
    readonly schedule: string;
    readonly key: string;
  }): Promise<ScheduledRun>;
}

/** Of the Temporal Schedule, and the first part of its runs' ids. */
export function scheduleIdOf(tenant: string, id: string): string {
  return `schedule/${tenant}/${id}`;
}

/** As Temporal names the run of an instant: one that is made up for has the same. */
export function runIdOf(tenant: string, id: string, at: Date): string {
  return `${scheduleIdOf(tenant, id)}-${at.toISOString().replace('.000Z', 'Z')}`;
}
