/** What the core must know of the rows of canvases. */
import type { RowPart } from '#store/row-parts.ts';

export const rowPart: RowPart = {
  ofSession: ({ own }) => [{ table: 'canvases', where: own }],
};
