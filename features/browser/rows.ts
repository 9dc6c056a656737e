/** What the core must know about the rows of browsers. */
import type { RowPart } from '#store/row-parts.ts';

export const rowPart: RowPart = {
  ofSession: ({ own }) => [{ table: 'browsers', where: own }],
};
