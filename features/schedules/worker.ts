/** Schedules and heartbeats in a worker: their runs, and what the tools cron and heartbeat need. */
import { sql } from 'kysely';
import type { WorkerPart } from '#domain/feature.ts';
import { isOlder } from '#store/old-rows.ts';
import type { WorkerCore } from '#workers/worker-core.ts';
import { SCHEDULE_LIMITS } from './contract/schedule.ts';
import { createScheduleRoom } from './activities/schedule-room.ts';

const OLD_RUNS = {
  table: 'schedule_runs',
  isOld: sql`state is not null and ${isOlder('created_at', SCHEDULE_LIMITS.runsDays)}`,
};

export function createWorkerPart(core: WorkerCore): WorkerPart {
  const { activities, tools, schedules } = createScheduleRoom(core);
  return {
    tools,
    activities: { ...activities },
    oldRows: [OLD_RUNS],
    recover: () => schedules.planAll(),
    forget: { counted: 'schedules', remove: (tenant, of) => schedules.forget(tenant, of) },
  };
}
