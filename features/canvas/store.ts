/** Stores canvases, one for each session. */
import { type Canvas, changedCanvas, type CanvasStep } from './contract.ts';
import type { Pool } from '#store/postgres/pool.ts';
import { appendEvents, lockSession } from '#store/turns/session-writes.ts';
import { readRow } from '#store/postgres/statements.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { inTransaction } from '#store/postgres/transaction.ts';

export interface CanvasPlace {
  readonly tenant: string;
  readonly sessionKey: string;
}

export async function findCanvas(
  pool: Pool,
  { tenant, sessionKey }: CanvasPlace,
): Promise<Canvas | undefined> {
  return readRow<Canvas>(pool)`select version, steps from canvases
    where tenant_id = ${tenant} and session_key = ${sessionKey}`;
}

/** Returns the canvas after the step, or why there is none. Safe to repeat: a call changes it once. */
export function changeCanvas(
  pool: Pool,
  call: CanvasPlace & { readonly turnId: string; readonly callId: string },
  step: CanvasStep,
): Promise<Canvas | string> {
  const { tenant, sessionKey: session, turnId: turn, callId } = call;
  return inTransaction(pool, async (tx) => {
    await lockSession(forTenant(tx, tenant), session);
    const row = await tx
      .selectFrom('canvases')
      .select(['version', 'steps', 'last_call'])
      .where((is) => is.and({ tenant_id: tenant, session_key: session }))
      .executeTakeFirst();
    if (row?.last_call === callId) return row;
    const changed = changedCanvas(row, step);
    if (typeof changed === 'string') return changed;
    const written = { version: changed.version, steps: JSON.stringify(changed.steps), last_call: callId };
    await tx
      .insertInto('canvases')
      .values({ tenant_id: tenant, session_key: session, ...written })
      .onConflict((found) => found.columns(['tenant_id', 'session_key']).doUpdateSet(written))
      .execute();
    const { version } = changed;
    await appendEvents(tx, { tenant, session, turn }, [{ type: 'canvas.changed', data: { version } }]);
    return changed;
  });
}
