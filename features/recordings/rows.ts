/** What the core must know of replays: they go with their session, and after a time. */
import { sql } from 'kysely';
import { isOlder } from '#store/old-rows.ts';
import type { RowPart } from '#store/row-parts.ts';

const KEPT_DAYS = 30;

export const rowPart: RowPart = {
  oldRows: [
    { table: 'replays', isOld: isOlder('created_at', KEPT_DAYS) },
    { table: 'replay_parts', isOld: isOlder('created_at', KEPT_DAYS) },
  ],
  ofSession: ({ own }) => [
    { table: 'replay_parts', where: sql`${own}` },
    { table: 'replays', where: sql`${own}` },
  ],
};
