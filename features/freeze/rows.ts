/** How long lifted freezes are kept. */
import { isOlder } from '#store/old-rows.ts';
import type { RowPart } from '#store/row-parts.ts';

const KEPT_DAYS = 365;

export const rowPart: RowPart = {
  oldRows: [{ table: 'freezes', isOld: isOlder('lifted_at', KEPT_DAYS) }],
};
