/** What the core must know about the rows of nodes. */
import { sql } from 'kysely';
import { isOlder } from '#store/old-rows.ts';
import type { RowPart } from '#store/row-parts.ts';

export const OLD_INVOCATIONS = { table: 'node_invocations', isOld: isOlder('created_at', 7) };

export const rowPart: RowPart = {
  oldRows: [OLD_INVOCATIONS],
  moved: {
    sealed: [
      {
        table: 'node_invocations',
        column: 'sealed',
        place: `tenant_id || '/node_invocations/' || id || '/params'`,
        form: 'text',
      },
      {
        table: 'node_invocations',
        column: 'result',
        place: `tenant_id || '/node_invocations/' || id || '/result'`,
        form: 'text',
      },
    ],
    parked: (tenant) => [sql`update nodes set connection = null where tenant_id = ${tenant}`],
  },
  sealedRows: [{ table: 'nodes', place: `tenant_id || '/nodes/' || id` }],
  ofSession: ({ own, calls }) => [{ table: 'node_invocations', where: sql`${own} and id in ${calls}` }],
};
