/** A summary replaces the transcript up to a position in prompts; the rows stay. */
import type { ModelUse } from '#domain/budget/model-use.ts';
import type { Pool } from '../postgres/pool.ts';
import { appendEvents, type FeedPlace, lockSession } from './session-writes.ts';
import { callWithin } from '../postgres/sql-call.ts';
import { forTenant } from '../postgres/tenant-db.ts';
import { inTransaction } from '../postgres/transaction.ts';

/** `use` is the use of the model for it, and counts however late it comes. A repeat records it again. */
export function recordSummary(
  pool: Pool,
  place: FeedPlace,
  summary: string,
  position: number,
  use: ModelUse,
): Promise<void> {
  return inTransaction(pool, async (tx) => {
    const { tenant, session, turn } = place;
    await lockSession(forTenant(tx, tenant), session);
    await callWithin(tx, 'note_model_uses', [tenant, session, turn, JSON.stringify([use])]);
    const { numUpdatedRows } = await tx
      .updateTable('sessions')
      .set({ summary, summary_position: position })
      .where((is) => is.and({ tenant_id: tenant, key: session }))
      .where('summary_position', '<', String(position))
      .executeTakeFirst();
    if (numUpdatedRows > 0n)
      await appendEvents(tx, place, [{ type: 'context.compacted', data: { position } }]);
  });
}
