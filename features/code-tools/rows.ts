/** What the core must know about the rows of tool hosts. */
import type { RowPart } from '#store/row-parts.ts';

export const rowPart: RowPart = {
  sealedRows: [{ table: 'tool_hosts', place: `tenant_id || '/tool_hosts/' || name` }],
};
