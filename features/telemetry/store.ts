/** Ended turns that have not been exported, in the order of their ends. */
import { readRow, readRows, execute } from '#store/postgres/statements.ts';
import type { TenantDb } from '#store/postgres/tenant-db.ts';
import type { Pool } from '#store/postgres/pool.ts';
import { inTransaction } from '#store/postgres/transaction.ts';
import type { MessageContext } from '#domain/turn/turn.ts';

export interface EndedTurn {
  readonly tenant_id: string;
  readonly session_key: string;
  readonly turn_id: string;
  readonly event_id: string;
  /** With its microseconds. */
  readonly at: string;
  readonly context: MessageContext;
}

type Cursor = Pick<EndedTurn, 'at' | 'tenant_id' | 'session_key' | 'event_id'>;

/**
 * Passes the next turns to `send`, and remembers them when it resolves: after a crash they are sent again. Returns their
 * number; 0 also while another process sends.
 */
export function sendNext(
  pool: Pool,
  { limit, delaySeconds }: { readonly limit: number; readonly delaySeconds: number },
  send: (turns: readonly EndedTurn[]) => Promise<void>,
): Promise<number> {
  return inTransaction(pool, async (tx) => {
    const from = await readRow<Cursor>(tx)`
      select at::text, tenant_id, session_key, event_id from telemetry_cursor for update skip locked`;
    if (!from) return 0;
    const turns = await readRows<EndedTurn>(tx)`
      select e.tenant_id, e.session_key, e.turn_id, e.id as event_id, e.at::text, t.context
      from events e join turns t on t.tenant_id = e.tenant_id and t.id = e.turn_id
      where e.type in ('turn.completed', 'turn.failed', 'turn.stopped') and e.at >= ${from.at}::timestamptz
        and e.at <= clock_timestamp() - make_interval(secs => ${delaySeconds})
        and (e.at, e.tenant_id, e.session_key, e.id)
          > (${from.at}::timestamptz, ${from.tenant_id}, ${from.session_key}, ${from.event_id}::bigint)
      order by e.at, e.tenant_id, e.session_key, e.id limit ${limit}`;
    const last = turns.at(-1);
    if (!last) return 0;
    await send(turns);
    await execute(tx)`
      update telemetry_cursor set at = ${last.at}::timestamptz, tenant_id = ${last.tenant_id},
        session_key = ${last.session_key}, event_id = ${last.event_id}::bigint`;
    return turns.length;
  });
}

/** What ended long ago, while nothing was exported, is passed over. */
export async function passOverOld(pool: Pool, seconds: number): Promise<void> {
  await execute(pool)`
    update telemetry_cursor set at = now() - make_interval(secs => ${seconds})
    where at < now() - make_interval(secs => ${seconds})`;
}

/** The first message that the turn read. */
export async function readQuestion(db: TenantDb, turn: string): Promise<string> {
  const row = await readRow<{ text: string }>(db)`
    select left(m.text, 16384) as text from messages m join turns t on t.tenant_id = ${db} and t.id = ${turn}
      and m.session_key = t.session_key
    where m.tenant_id = ${db} and m.turn_id = t.id and m.role = 'user' and m.position is not null
    order by m.position limit 1`;
  return row?.text ?? '';
}
