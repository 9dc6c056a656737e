/** What the core must know about the rows of the console: how long they are kept. */
import { sql } from 'kysely';
import { isOlder } from '#store/old-rows.ts';
import type { RowPart } from '#store/row-parts.ts';

export const rowPart: RowPart = {
  oldRows: [
    { table: 'console_sessions', isOld: sql`expires_at < now()` },
    // A link that was used says so for a day.
    { table: 'console_links', isOld: isOlder('expires_at', 1) },
  ],
};
