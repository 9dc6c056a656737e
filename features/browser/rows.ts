/** What the core must know about the rows of browsers. */
import type { RowPart } from '#store/row-parts.ts';

export const rowPart: RowPart = {
  // A browser is a program of one worker.
  moved: { staying: ['browsers'] },
  ofSession: ({ own }) => [{ table: 'browsers', where: own }],
};
