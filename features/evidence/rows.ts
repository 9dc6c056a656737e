/** What the core must know about the rows of chains: contents go with their session, the digests stay. */
import { sql } from 'kysely';
import type { RowPart } from '#store/row-parts.ts';

export const rowPart: RowPart = {
  // Each installation has anchors of its own.
  moved: { staying: ['evidence_anchors'] },
  // The place is that of `keyPlace`.
  sealedRows: [{ table: 'evidence_heads', place: `tenant_id || '/evidence_heads'` }],
  ofSession: ({ tenant, session, until }) => [
    { change: sql`select forget_evidence(${tenant}, ${session}, ${until})` },
  ],
};
