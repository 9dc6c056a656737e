/** What the core must know about the rows of canvases. */
import type { RowPart } from '#store/row-parts.ts';

export const rowPart: RowPart = {
  ofSession: ({ own }) => [{ table: 'canvases', where: own }],
};
