/** What the core must know of reversals: they go with their session, and with old calls. */
import { sql } from 'kysely';
import { isOlder } from '#store/old-rows.ts';
import type { RowPart } from '#store/row-parts.ts';

const KEPT_DAYS = 365;

export const rowPart: RowPart = {
  oldRows: [{ table: 'undone_calls', isOld: isOlder('created_at', KEPT_DAYS) }],
  ofSession: ({ own }) => [{ table: 'undone_calls', where: sql`${own}` }],
};
