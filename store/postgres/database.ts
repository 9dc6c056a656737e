/** Access of statements to Postgres: by a pool, or within a transaction. */
import { Kysely, type Transaction as KyselyTransaction, PostgresDialect } from 'kysely';
import type { Pool } from './pool.ts';
import type { Tables } from '../tables.ts';

export type Transaction = KyselyTransaction<Tables>;
/** A transaction, or single statements. */
export type Database = Kysely<Tables>;
export type Db = Pool | Transaction;

const databases = new WeakMap<Pool, Database>();

/** One per pool. A connection that is lost during a transaction, or cannot roll back, is closed, which rolls back. */
export function databaseOf(db: Db): Database {
  if (!('totalCount' in db)) return db;
  const database = databases.get(db) ?? new Kysely<Tables>({ dialect: new PostgresDialect({ pool: db }) });
  databases.set(db, database);
  return database;
}
