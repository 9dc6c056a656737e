/** What the core must know of the rows of browsers. */
import type { RowPart } from '#store/row-parts.ts';

export const rowPart: RowPart = {
  ofSession: ({ own }) => [{ table: 'browsers', where: own }],
};
