/** What the core must know about the rows of schedules. */
import { sql } from 'kysely';
import { isOlder } from '#store/old-rows.ts';
import type { RowPart } from '#store/row-parts.ts';
import { SCHEDULE_LIMITS } from './contract/schedule.ts';

export const rowPart: RowPart = {
  oldRows: [
    {
      table: 'schedule_runs',
      isOld: sql`state is not null and ${isOlder('created_at', SCHEDULE_LIMITS.runsDays)}`,
    },
  ],
  ofSession: ({ own }) => [{ table: 'schedule_runs', where: own }],
};
