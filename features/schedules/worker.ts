/** Provides schedules and heartbeats in a worker: their runs, and what the tools cron and heartbeat need. */
import type { WorkerPart } from '#domain/feature.ts';
import type { WorkerCore } from '#workers/worker-core.ts';
import { createScheduleActivities } from './activities/schedule-activities.ts';

export function createWorkerPart(core: WorkerCore): WorkerPart {
  const { activities, tools, schedules } = createScheduleActivities(core);
  return {
    tools,
    activities: { ...activities },
    recover: () => schedules.planAll(),
    forget: { counted: 'schedules', remove: (tenant, of) => schedules.forget(tenant, of) },
  };
}
