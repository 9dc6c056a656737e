/** What the core must know about the rows of custom tools. */
import type { RowPart } from '#store/row-parts.ts';

export const rowPart: RowPart = {
  sealedRows: [{ table: 'custom_tool_env', place: `tenant_id || '/custom_tools/' || tool_id` }],
};
