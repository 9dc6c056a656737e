/** What the core must know about the rows of tenants that move. */
import type { RowPart } from '#store/row-parts.ts';

export const rowPart: RowPart = {
  sealedRows: [{ table: 'parked_sessions', place: `tenant_id || '/parked_sessions/' || session_key` }],
  ofSession: ({ own }) => [{ table: 'parked_sessions', where: own }],
};

/** The place that a parked session is sealed for. */
export function parkedPlace(tenant: string, session: string): string {
  return `${tenant}/parked_sessions/${session}`;
}
