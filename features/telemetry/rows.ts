/** What the core must know about the feature's only row, which belongs to no tenant. */
import type { RowPart } from '#store/row-parts.ts';

export const rowPart: RowPart = { moved: { staying: ['telemetry_cursor'] } };
