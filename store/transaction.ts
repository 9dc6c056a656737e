/** Transactions of several statements: rows are read under their locks, TypeScript decides, and what follows is written. */
import { Kysely, PostgresDialect, sql, type Transaction as KyselyTransaction } from 'kysely';
import type { BudgetRoot } from '#domain/budget.ts';
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

/** Whose budgets a turn's use counts for; null where there is no such session. */
export async function readBudgetRoot(
  tx: Transaction,
  tenant: string,
  session: string | null,
  turn: string | null,
): Promise<BudgetRoot | null> {
  const { rows } = await sql<{ root: BudgetRoot | null }>`
    select budget_root_of(${tenant}, ${session}, ${turn}) as root`.execute(tx);
  return rows[0]?.root ?? null;
}
