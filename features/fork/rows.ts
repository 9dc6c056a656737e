/** What the core must know of forks: they go with their session. */
import { sql } from 'kysely';
import { isOlder } from '#store/old-rows.ts';
import type { RowPart } from '#store/row-parts.ts';

/** Days that a request which was refused is kept. */
const FAILED_DAYS = 30;

export const rowPart: RowPart = {
  moved: {
    underWay: [
      { what: 'forks of sessions that are being made', table: 'forks', where: sql`status = 'open'` },
    ],
  },
  sealedRows: [{ table: 'forks', place: `tenant_id || '/forks/' || session_key` }],
  oldRows: [{ table: 'forks', isOld: sql`status = 'failed' and ${isOlder('created_at', FAILED_DAYS)}` }],
  ofSession: ({ tenant, session }) => [
    {
      table: 'forks',
      where: sql`tenant_id = ${tenant} and (session_key = ${session} or from_session = ${session} and status = 'failed')`,
    },
  ],
};
