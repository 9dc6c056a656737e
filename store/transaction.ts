/** Transactions of several statements: rows are read under their locks, TypeScript decides, and what follows is written. */
import { Kysely, type Transaction as KyselyTransaction, PostgresDialect } from 'kysely';
import type { Pool } from './pool.ts';
import type { Tables } from './tables.ts';

export type Transaction = KyselyTransaction<Tables>;
/** A transaction, or single statements. */
export type Database = Kysely<Tables>;

const databases = new WeakMap<Pool, Database>();

/** One a pool. A connection that is lost on the way, or cannot even roll back, is closed, which does it. */
export function databaseOf(db: Pool | Transaction): Database {
  if (!('totalCount' in db)) return db;
  const database = databases.get(db) ?? new Kysely<Tables>({ dialect: new PostgresDialect({ pool: db }) });
  databases.set(db, database);
  return database;
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
