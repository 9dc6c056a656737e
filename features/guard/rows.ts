/** What the core must know of guarded calls: with which session they go, and how long they are kept. */
import { sql } from 'kysely';
import { isOlder } from '#store/old-rows.ts';
import type { RowPart } from '#store/row-parts.ts';

const KEPT_DAYS = 90;

export const rowPart: RowPart = {
  oldRows: [{ table: 'guarded_calls', isOld: isOlder('created_at', KEPT_DAYS) }],
  ofSession: ({ own }) => [{ table: 'guarded_calls', where: sql`${own}`, counted: 'guarded_calls' }],
};
