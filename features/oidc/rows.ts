/** What the core must know about refresh tokens. They go with the person's key. */
import { isOlder } from '#store/old-rows.ts';
import type { RowPart } from '#store/row-parts.ts';

export const rowPart: RowPart = {
  sealedRows: [{ table: 'oidc_refreshes', place: `tenant_id || '/oidc_refreshes/' || person_id` }],
  oldRows: [{ table: 'oidc_refreshes', isOld: isOlder('due_at', 1) }],
};
