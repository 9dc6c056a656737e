/** A team as the rules of its tasks see it. */
import type { TaskTeam } from '#domain/team/team-task.ts';

export const TEAM: TaskTeam = {
  lead: 'lead',
  members: ['m1', 'm2'],
  lease_seconds: 60,
  escalates: true,
  reminder_minutes: 30,
  reminders: 3,
  notifies_each: false,
};
