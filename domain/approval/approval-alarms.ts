/** AP-4: what happens to an approval while nobody decides it, and when. */
import { TERM_LIMITS } from './approval.ts';

/** Times in seconds from the start. */
export interface AlarmTimes {
  readonly expires: number;
  readonly escalate?: number;
  readonly remind?: number;
}

export interface Alarm {
  /** Milliseconds from the start. */
  readonly after: number;
  readonly what: 'expired' | 'escalated' | 'reminded';
}

/**
 * Returns the next alarm after what has already happened. An alarm that is due at the same time as the end is dropped.
 */
export function nextAlarm(
  { expires, escalate, remind }: AlarmTimes,
  done: { readonly escalated: boolean; readonly reminders: number },
): Alarm {
  const alarms: Alarm[] = [{ after: expires * 1000, what: 'expired' }];
  if (escalate !== undefined && !done.escalated) alarms.push({ after: escalate * 1000, what: 'escalated' });
  if (remind !== undefined && done.reminders < TERM_LIMITS.reminders)
    alarms.push({ after: remind * 1000 * (done.reminders + 1), what: 'reminded' });
  return alarms.reduce((first, alarm) => (alarm.after < first.after ? alarm : first));
}
