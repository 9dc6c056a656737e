/** Transactions of several statements: rows are read under their locks, TypeScript decides, and what follows is written. */
import { Kysely, PostgresDialect, type Transaction as KyselyTransaction } from 'kysely';
import type { Pool } from './pool.ts';
import type { Tables } from './tables.ts';

export type Transaction = KyselyTransaction<Tables>;
/** A transaction, or single statements. */
export type Database = Kysely<Tables>;

export function databaseOf(pool: Pool): Database {
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
}

/**
 * One commit, or nothing. Locks are taken in one order everywhere: a team, its task, a session, its turns, calls and approvals, and
 * accounts of budgets last. `work` asks nothing of the pool, or it would wait for itself when all connections are taken.
 */
export function inTransaction<Result>(
  pool: Pool,
  work: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  return databaseOf(pool).transaction().execute(work);
}
