/**
 * The tables of the feature for Kysely, generated from the schema by
 * `TEST_WRITE=1 npm test -- test/store/tables.test.ts` and checked by that test.
 */
import type { Generated, Json, Timestamp } from '#store/postgres/column-types.ts';
import type { Timing } from '#features/schedules/schema/schedule.ts';
import type { ScheduleRights } from '#features/schedules/contract/schedule.ts';
import type { HeartbeatSettings } from '#features/schedules/contract/heartbeat.ts';

declare module '#store/tables.ts' {
  interface Tables {
    schedule_runs: {
      tenant_id: string;
      schedule_id: string;
      key: string;
      at: Timestamp;
      forced: boolean;
      state: 'started' | 'skipped' | 'refused' | 'quiet' | 'said' | 'failed' | null;
      reason: string | null;
      session_key: string | null;
      turn_id: string | null;
      attempt: Generated<number>;
      created_at: Generated<Timestamp>;
      revision: number | null;
    };
    schedules: {
      tenant_id: string;
      id: string;
      name: string;
      agent_key: string;
      user_id: string | null;
      message: string;
      timing: Json<Timing>;
      session_key: string | null;
      delete_after_run: boolean;
      enabled: boolean;
      overlap: 'skip' | 'allow';
      catchup_seconds: number;
      rights: Json<ScheduleRights>;
      heartbeat: Json<HeartbeatSettings> | null;
      created_by: string;
      revision: Generated<number>;
      planned: number | null;
      planned_until: Timestamp | null;
      planner: string | null;
      planner_until: Timestamp | null;
      next_at: Timestamp | null;
      created_at: Generated<Timestamp>;
      updated_at: Generated<Timestamp>;
      deleted_at: Timestamp | null;
    };
  }
}
