/**
 * Schedules: a message that an agent gets at future instants. The row says what; a Temporal Schedule says when, and
 * follows the row.
 */
import type { HEARTBEAT_OUTCOMES } from './heartbeat.ts';

/** The workflow's type: one run of it is one firing. */
export const SCHEDULED_MESSAGE = 'scheduledMessage';

/** What a run does when an earlier one of the same schedule is still running. */
export const OVERLAPS = ['skip', 'allow'] as const;

export const RUN_STATES = ['started', 'skipped', 'refused'] as const;

/** The rights of a run: those of its creation, without those that have been revoked since. */
export interface ScheduleRights {
  /** Id of the API key behind it; absent when a foreign Temporal client made it. */
  readonly key?: string | undefined;
  readonly roles?: readonly string[] | undefined;
  readonly allowed_tools?: readonly string[] | undefined;
  /**
   * The session whose agent made it. What that had read counts for its runs, and the agent must still have the tool.
   */
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
  /** Instants that a Temporal Schedule contains; it gets more when half of them are over. */
  planned: 64,
  /** Missed instants that are made up for at a time. */
  madeUp: 100,
  /** Future runs that are shown to those who make or list one. */
  nextRuns: 5,
  /** Days for which runs are listed. */
  runsDays: 90,
} as const;

export interface ScheduledMessageInput {
  readonly tenant: string;
  readonly schedule: string;
  /** ISO 8601; absent when a Temporal Schedule starts it, which has the time itself. */
  readonly at?: string;
  /** Set for a requested run. It identifies the run, however often it is requested. */
  readonly forced?: string;
}

export interface ScheduledRun {
  readonly state: (typeof RUN_STATES)[number] | (typeof HEARTBEAT_OUTCOMES)[number] | 'gone';
  readonly reason?: string;
  readonly session?: string;
  readonly turn?: string;
  /** For a heartbeat: the end of its turn is checked after this many seconds. */
  readonly watch?: { readonly key: string; readonly seconds: number } | undefined;
}

export interface ScheduleActivities {
  /** Safe to repeat, also concurrently: there is one run for a schedule and instant. */
  start_scheduled_run(input: ScheduledMessageInput & { readonly at: string }): Promise<ScheduledRun>;
  /** Decides what becomes of a heartbeat's turn: tried again, posted, or quiet. Safe to repeat. */
  settle_heartbeat(input: {
    readonly tenant: string;
    readonly schedule: string;
    readonly key: string;
  }): Promise<ScheduledRun>;
}

/** The id of the Temporal Schedule, and the first part of its runs' ids. */
export function scheduleIdOf(tenant: string, id: string): string {
  return `schedule/${tenant}/${id}`;
}

/** The id that Temporal gives the run of an instant; a run that makes up for it has the same. */
export function runIdOf(tenant: string, id: string, at: Date): string {
  return `${scheduleIdOf(tenant, id)}-${at.toISOString().replace('.000Z', 'Z')}`;
}
