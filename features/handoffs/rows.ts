/** What the core must know about the rows of handoffs. */
import { sql } from 'kysely';
import type { RowPart } from '#store/row-parts.ts';

export const rowPart: RowPart = {
  ofSession: ({ own, until }) => [{ table: 'handoff_routes', where: sql`${own} and created_at <= ${until}` }],
};
