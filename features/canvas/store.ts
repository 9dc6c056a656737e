/** Stores canvases, one for each session. */
import { type Canvas, changedCanvas, type CanvasStep } from './contract.ts';
import { appendEvents, lockSession } from '#store/turns/session-writes.ts';
import { readRow } from '#store/postgres/statements.ts';
import type { TenantDb } from '#store/postgres/tenant-db.ts';
import { inTransaction } from '#store/postgres/transaction.ts';

export function findCanvas(db: TenantDb, session: string): Promise<Canvas | undefined> {
  return readRow<Canvas>(
    db,
  )`select version, steps from canvases where tenant_id = ${db} and session_key = ${session}`;
}

/** Returns the canvas after the step, or why there is none. Safe to repeat: a call changes it once. */
export function changeCanvas(
  db: TenantDb,
  call: { readonly sessionKey: string; readonly turnId: string; readonly callId: string },
  step: CanvasStep,
): Promise<Canvas | string> {
  const { tenant: tenant_id } = db;
  const { sessionKey: session, turnId: turn, callId } = call;
  return inTransaction(db, async (tx) => {
    await lockSession(tx, session);
    const row = await tx
      .selectFrom('canvases')
      .select(['version', 'steps', 'last_call'])
      .where((is) => is.and({ tenant_id, session_key: session }))
      .executeTakeFirst();
    if (row?.last_call === callId) return row;
    const changed = changedCanvas(row, step);
    if (typeof changed === 'string') return changed;
    const written = { version: changed.version, steps: JSON.stringify(changed.steps), last_call: callId };
    await tx
      .insertInto('canvases')
      .values({ tenant_id, session_key: session, ...written })
      .onConflict((found) => found.columns(['tenant_id', 'session_key']).doUpdateSet(written))
      .execute();
    const { version } = changed;
    await appendEvents(tx, { session, turn }, [{ type: 'canvas.changed', data: { version } }]);
    return changed;
  });
}
