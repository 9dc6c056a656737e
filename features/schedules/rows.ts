/** What the core must know about the rows of schedules. */
import { sql } from 'kysely';
import { isOlder } from '#store/old-rows.ts';
import type { RowPart } from '#store/row-parts.ts';
import { SCHEDULE_LIMITS } from './contract/schedule.ts';

export const rowPart: RowPart = {
  moved: {
    underWay: [
      {
        what: 'runs of schedules whose message is being handed over',
        table: 'schedule_runs',
        where: sql`state is null and created_at > clock_timestamp() - interval '10 minutes'`,
      },
      {
        what: 'schedules that are being planned',
        table: 'schedules',
        where: sql`planner is not null and planner_until > clock_timestamp()`,
      },
    ],
    // The sweep makes the Temporal Schedules of the namespace where the tenant goes on.
    parked: (tenant) => [
      sql`update schedules set planned = null, planned_until = null, planner = null, planner_until = null
        where tenant_id = ${tenant}`,
    ],
  },
  oldRows: [
    {
      table: 'schedule_runs',
      isOld: sql`state is not null and ${isOlder('created_at', SCHEDULE_LIMITS.runsDays)}`,
    },
  ],
  ofSession: ({ own }) => [{ table: 'schedule_runs', where: own }],
};
