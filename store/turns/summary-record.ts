/** A summary replaces the transcript up to a position in prompts; the rows stay. */
import type { ModelUse } from '#domain/budget/model-use.ts';
import { appendEvents, type FeedPlace, lockSession } from './session-writes.ts';
import { callWithin } from '../postgres/sql-call.ts';
import type { TenantDb } from '../postgres/tenant-db.ts';
import { inTransaction } from '../postgres/transaction.ts';

/** `use` is the use of the model for it, and counts however late it comes; with a name (`once`), once. */
export function recordSummary(
  db: TenantDb,
  place: FeedPlace,
  summary: string,
  position: number,
  use: ModelUse,
): Promise<void> {
  const { session, turn } = place;
  return inTransaction(db, async (tx) => {
    await lockSession(tx, session);
    await callWithin(tx, 'note_model_uses', [session, turn, JSON.stringify([use])]);
    const { numUpdatedRows } = await tx
      .updateTable('sessions')
      .set({ summary, summary_position: position })
      .where((is) => is.and({ tenant_id: db.tenant, key: session }))
      .where('summary_position', '<', String(position))
      .executeTakeFirst();
    if (numUpdatedRows > 0n)
      await appendEvents(tx, place, [{ type: 'context.compacted', data: { position } }]);
  });
}
