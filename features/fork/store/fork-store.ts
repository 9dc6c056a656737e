/** Requests to fork a session, and what became of each. */
import { Failure } from '#domain/errors.ts';
import type { MessageContext } from '#domain/turn/turn.ts';
import { affects, below, execute, type PageEnd, readRow, readRows } from '#store/postgres/statements.ts';
import type { Pool } from '#store/postgres/pool.ts';
import type { TenantDb, TenantTx } from '#store/postgres/tenant-db.ts';
import { inTransaction } from '#store/postgres/transaction.ts';
import { refuseFrozen } from '#store/tenant-freeze.ts';
import type { ForkResult } from '../contract.ts';
import { sql } from 'kysely';

export interface ForkRow {
  readonly session_key: string;
  readonly from_session: string;
  readonly from_turn: string;
  readonly from_step: number | null;
  readonly agent_key: string;
  readonly user_id: string | null;
  readonly context: MessageContext;
  readonly digest: string;
  readonly sealed: string | null;
  readonly status: 'open' | 'done' | 'failed';
  readonly turn_id: string | null;
  readonly result: ForkResult | null;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly created_at: Date;
}

const COLUMNS = sql`session_key, from_session, from_turn, from_step, agent_key, user_id, context, digest, sealed, status, turn_id,
  result, error, created_at`;

export interface NewFork
  extends Pick<
    ForkRow,
    | 'session_key'
    | 'from_session'
    | 'from_turn'
    | 'from_step'
    | 'agent_key'
    | 'user_id'
    | 'context'
    | 'digest'
    | 'sealed'
  > {
  readonly key_id: string | null;
  readonly by: string;
}

/**
 * Writes the request, or finds it: the same request under the same key is one fork. A failed one is tried again as it
 * is requested now.
 * @throws Failure Conflict when the key is taken; TenantFrozen
 */
export function claimFork(db: TenantDb, fork: NewFork): Promise<ForkRow> {
  const { session_key: key } = fork;
  return inTransaction(db, async (tx) => {
    await refuseFrozen(tx);
    const made = await readRow<ForkRow>(tx)`
      insert into forks (tenant_id, session_key, from_session, from_turn, from_step, agent_key, user_id, context, digest, sealed,
        key_id, created_by)
      values (${tx}, ${key}, ${fork.from_session}, ${fork.from_turn}, ${fork.from_step}, ${fork.agent_key}, ${fork.user_id},
        ${JSON.stringify(fork.context)}, ${fork.digest}, ${fork.sealed}, ${fork.key_id}, ${fork.by})
      on conflict do nothing returning ${COLUMNS}`;
    if (made) {
      if (await affects(tx)`select from sessions where tenant_id = ${tx} and key = ${key}`) throw taken(key);
      return made;
    }
    const there = await readRow<ForkRow>(tx)`
      select ${COLUMNS} from forks where tenant_id = ${tx} and session_key = ${key} for update`;
    if (there?.digest !== fork.digest) throw taken(key);
    if (there.status !== 'failed') return there;
    return reopen(tx, fork);
  });
}

/** With the rights of who asks now, and the point and the agent that the request means now. */
async function reopen(tx: TenantTx, fork: NewFork): Promise<ForkRow> {
  const row = await readRow<ForkRow>(tx)`
    update forks set status = 'open', error = null, ended_at = null, from_turn = ${fork.from_turn}, from_step = ${fork.from_step},
      agent_key = ${fork.agent_key}, context = ${JSON.stringify(fork.context)}, sealed = ${fork.sealed}, key_id = ${fork.key_id},
      created_by = ${fork.by}
    where tenant_id = ${tx} and session_key = ${fork.session_key} returning ${COLUMNS}`;
  if (!row) throw new Error('a locked fork is gone');
  return row;
}

export function taken(key: string): Failure {
  return new Failure('Conflict', `There is a session ${key} already; choose another key for the fork`);
}

export function findFork(db: TenantDb | TenantTx, session: string): Promise<ForkRow | undefined> {
  return readRow<ForkRow>(db)`
    select ${COLUMNS} from forks where tenant_id = ${db} and session_key = ${session}`;
}

export interface ListedFork extends ForkRow {
  /** `created_at` with all its digits, for cursors. */
  readonly created_text: string;
}

/** Forks of a session, the newest first. */
export function listForks(
  db: TenantDb,
  from: string,
  limit: number,
  after: PageEnd | undefined,
): Promise<ListedFork[]> {
  return readRows<ListedFork>(db)`
    select ${COLUMNS}, created_at::text as created_text from forks
    where tenant_id = ${db} and from_session = ${from} ${below('created_at', 'session_key', after)}
    order by created_at desc, session_key limit ${limit}`;
}

/** There is no fork; nothing of it is left. A fork that is there stays. */
export async function noteFailed(
  db: TenantDb,
  session: string,
  error: NonNullable<ForkRow['error']>,
): Promise<void> {
  await execute(db)`
    update forks set status = 'failed', error = ${JSON.stringify(error)}, ended_at = clock_timestamp(), sealed = null,
      key_id = null
    where tenant_id = ${db} and session_key = ${session} and status = 'open'`;
}

/** In the commit that makes the session. False when another attempt was first. */
export function noteDone(
  tx: TenantTx,
  session: string,
  { turn_id, result }: Pick<ForkRow, 'turn_id' | 'result'>,
): Promise<boolean> {
  return affects(tx)`
    update forks set status = 'done', turn_id = ${turn_id}, result = ${JSON.stringify(result)}, ended_at = clock_timestamp()
    where tenant_id = ${tx} and session_key = ${session} and status = 'open'`;
}

/**
 * Of all tenants, for the sweep: forks whose workflow may never have been started. Those of a frozen tenant are made too,
 * because it is still only then.
 */
export function openForks(
  pool: Pool,
  olderThanSeconds: number,
): Promise<{ readonly tenant_id: string; readonly session_key: string }[]> {
  return readRows<{ tenant_id: string; session_key: string }>(pool)`
    select tenant_id, session_key from forks where status = 'open'
      and created_at < now() - make_interval(secs => ${olderThanSeconds}) limit 500`;
}
