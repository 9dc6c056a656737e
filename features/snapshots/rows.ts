/** What the core must know about the rows of workspaces. */
import { sql } from 'kysely';
import type { RowPart } from '#store/row-parts.ts';

export const rowPart: RowPart = {
  moved: {
    underWay: [
      {
        what: 'workspaces that a worker holds',
        table: 'workspaces',
        where: sql`held_until > clock_timestamp()`,
      },
    ],
  },
};
