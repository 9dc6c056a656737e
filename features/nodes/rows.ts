/** What the core must know about the rows of nodes. */
import { sql } from 'kysely';
import { isOlder } from '#store/old-rows.ts';
import type { RowPart } from '#store/row-parts.ts';

export const OLD_INVOCATIONS = { table: 'node_invocations', isOld: isOlder('created_at', 7) };

export const rowPart: RowPart = {
  oldRows: [OLD_INVOCATIONS],
  sealedRows: [{ table: 'nodes', place: `tenant_id || '/nodes/' || id` }],
  ofSession: ({ own, calls }) => [{ table: 'node_invocations', where: sql`${own} and id in ${calls}` }],
};
