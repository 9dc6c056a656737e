/** Ended turns that have not been exported, in the order of their ends. */
import { readRow, readRows, execute } from '#store/postgres/statements.ts';
import type { TenantDb } from '#store/postgres/tenant-db.ts';
import type { Pool } from '#store/postgres/pool.ts';
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

interface Cursor extends Pick<EndedTurn, 'at' | 'tenant_id' | 'session_key' | 'event_id'> {
  readonly fence: string;
}

/** Longer than a batch is read and sent. */
const LEASE_SECONDS = 60;

export interface NextTurns {
  readonly turns: readonly EndedTurn[];
  /** Gives the claim back; turns that were not sent come again, also after a crash before this. */
  end(isSent: boolean): Promise<void>;
}

/**
 * Claims the next turns that have ended `delaySeconds` ago, of those that ended within `keptSeconds`. Undefined while
 * another worker has them.
 */
export async function claimNext(
  pool: Pool,
  { limit, delaySeconds, keptSeconds }: Readonly<Record<'limit' | 'delaySeconds' | 'keptSeconds', number>>,
): Promise<NextTurns | undefined> {
  const from = await readRow<Cursor & { readonly until: string }>(pool)`
    update telemetry_cursor set fence = fence + 1, leased_until = clock_timestamp() + make_interval(secs => ${LEASE_SECONDS}),
      at = greatest(at, now() - make_interval(secs => ${keptSeconds}))
    where leased_until < clock_timestamp()
    returning at::text, tenant_id, session_key, event_id, fence,
      (clock_timestamp() - make_interval(secs => ${delaySeconds}))::text as until`;
  if (!from) return undefined;
  const turns = await readRows<EndedTurn>(pool)`
    select e.tenant_id, e.session_key, e.turn_id, e.id as event_id, e.at::text, t.context
    from events e join turns t on t.tenant_id = e.tenant_id and t.id = e.turn_id
    where e.type in ('turn.completed', 'turn.failed', 'turn.stopped')
      and e.at >= ${from.at}::timestamptz and e.at <= ${from.until}::timestamptz
      and (e.at, e.tenant_id, e.session_key, e.id)
        > (${from.at}::timestamptz, ${from.tenant_id}, ${from.session_key}, ${from.event_id}::bigint)
    order by e.at, e.tenant_id, e.session_key, e.id limit ${limit}`;
  return {
    turns,
    async end(isSent) {
      const last = (isSent && turns.at(-1)) || from;
      await execute(pool)`
        update telemetry_cursor set leased_until = '-infinity', at = ${last.at}::timestamptz, tenant_id = ${last.tenant_id},
          session_key = ${last.session_key}, event_id = ${last.event_id}::bigint
        where fence = ${from.fence}::bigint`;
    },
  };
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
