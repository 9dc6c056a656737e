/** Exports what other features may use of this one. */
export { timingProblem } from './rules/instants.ts';
export { findSchedule } from './store/schedule-store.ts';
export { createSchedules } from './temporal/schedules.ts';
export { scheduleCreateSchema } from './schema/schedule.ts';
