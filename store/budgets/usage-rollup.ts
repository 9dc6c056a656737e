/**
 * Sums of model uses (DU-7): `usage_by_day` and `usage_by_session`. Steps add rows to `model_uses`, a sweep adds these to
 * the sums, and forgetting takes names out. A use is either a row of `model_uses` or in both sums, so a reader adds the
 * rows to a sum in one statement.
 */
import { type RawBuilder, sql } from 'kysely';
import type { Transaction } from '../postgres/database.ts';
import type { Pool } from '../postgres/pool.ts';
import { execute, readRow } from '../postgres/statements.ts';
import type { TenantDb } from '../postgres/tenant-db.ts';
import { inTransaction } from '../postgres/transaction.ts';
import { removeInTurn } from '../remove-in-turn.ts';

/** Uses that one transaction adds to the sums. */
const BATCH = 10_000;

/** The columns of the sums that are figures, and how two rows of one key are added. */
const FIGURES = ['calls', 'input_tokens', 'output_tokens', 'cached_tokens', 'usd', 'unpriced_calls'] as const;
const DAY_KEYS = ['tenant_id', 'day', 'agent_key', 'model', 'kind'] as const;
const SESSION_KEYS = [...DAY_KEYS, 'session_key', 'user_id'] as const;

/** `model_uses` in the columns of the sums. */
export const USES = sql`tenant_id, session_key, (created_at at time zone 'UTC')::date as day, agent_key, user_id, model, kind,
  1::bigint as calls, input_tokens, output_tokens, cached_tokens, usd, (usd is null)::int::bigint as unpriced_calls`;

/**
 * Adds what steps have used to the sums, and removes these rows. Returns their number. A use is added once, whatever dies
 * or runs at the same time.
 */
export function addUsesToSums(pool: Pool): Promise<number> {
  return removeInTurn([{ batch: BATCH, remove: (max) => inTransaction(pool, (tx) => addSome(tx, max)) }]);
}

async function addSome(tx: Transaction, max: number): Promise<number> {
  await lockSums(tx);
  const row = await readRow<{ n: number }>(tx)`
    with uses as (
      delete from model_uses where ctid = any (array(select ctid from model_uses limit ${max})) returning ${USES}
    ), by_day as (${addTo('usage_by_day', DAY_KEYS, sql`uses`)}),
    by_session as (${addTo('usage_by_session', SESSION_KEYS, sql`uses`)})
    select count(*)::int as n from uses`;
  return row?.n ?? 0;
}

/**
 * Takes the name of a session or a user out of the sums, whose figures stay without it. Safe to repeat. A use that is
 * recorded later has the name again.
 */
export function mergeUsage(db: TenantDb<Pool>, what: 'session' | 'user', name: string): Promise<void> {
  return inTransaction(db, async (tx) => {
    await lockSums(tx.unbound);
    const column = what === 'session' ? 'session_key' : 'user_id';
    const own = sql`tenant_id = ${tx} and ${sql.ref(column)} = ${name}`;
    await execute(tx)`update model_uses set ${sql.ref(column)} = '' where ${own}`;
    const unnamed = [...SESSION_KEYS, ...FIGURES].map((key) =>
      key === column ? sql`''::text as ${sql.ref(key)}` : sql.ref(key),
    );
    await execute(tx)`
      with gone as (delete from usage_by_session where ${own} returning ${sql.join(unnamed)})
      ${addTo('usage_by_session', SESSION_KEYS, sql`gone`)}`;
  });
}

/** One writer at a time, so that none waits for another's rows in another order. Readers and steps never wait. */
async function lockSums(tx: Transaction): Promise<void> {
  await execute(tx)`select pg_advisory_xact_lock(hashtextextended('sums of usage', 0))`;
}

/** Adds rows, which have the columns of the sums, to those with the same keys. */
function addTo(table: string, keys: readonly string[], rows: RawBuilder<unknown>): RawBuilder<unknown> {
  const name = sql.table(table);
  const columns = sql.join(keys.map((key) => sql.ref(key)));
  const figures = sql.join(FIGURES.map((figure) => sql.ref(figure)));
  const sums = sql.join(FIGURES.map((figure) => sql`sum(${sql.ref(figure)})`));
  const added = sql.join(
    FIGURES.map((figure) => {
      const [known, more] = [sql.ref(`${table}.${figure}`), sql.ref(`excluded.${figure}`)];
      // The cost is null while no call has a price.
      return sql`${sql.ref(figure)} = coalesce(${known} + ${more}, ${known}, ${more})`;
    }),
  );
  return sql`insert into ${name} (${columns}, ${figures}) select ${columns}, ${sums} from ${rows} group by ${columns}
    on conflict (${columns}) do update set ${added}`;
}
