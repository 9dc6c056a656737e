/** What the core must know about the rows of links, and what links must know about the rows of other features. */
import { type RawBuilder, sql } from 'kysely';
import type { RowPart } from '#store/row-parts.ts';

declare module '#store/row-parts.ts' {
  interface RowPart {
    /** A condition on a row `l` of `approval_links`: the creator may no longer create links. */
    readonly isLinkOver?: RawBuilder<unknown>;
  }
}

export const rowPart: RowPart = {
  ofSession: ({ tenant, own, turns }) => [
    {
      table: 'approval_links',
      where: sql`tenant_id = ${tenant} and approval_id in (select id from approvals where ${own} and turn_id in ${turns})`,
    },
  ],
  ofUser: ({ own }) => ({ before: [{ table: 'approval_links', where: own }] }),
};
