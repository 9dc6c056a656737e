/**
 * Transactions of several statements: rows are read under their locks, TypeScript decides, and the result is written.
 */
import { databaseOf, type Transaction } from './database.ts';
import type { Pool } from './pool.ts';
import { execute } from './statements.ts';
import { forTenant, type TenantDb, type TenantTx } from './tenant-db.ts';

/**
 * One commit, or nothing. Locks are taken in one order everywhere: a team, its task, a session, its turns, calls and
 * approvals, and accounts of budgets last. `work` must not use the pool; otherwise it would wait for itself when all
 * connections are taken. A tenant's transaction is bound to the tenant too.
 */
export function inTransaction<Result>(db: TenantDb, work: (tx: TenantTx) => Promise<Result>): Promise<Result>;
export function inTransaction<Result>(
  pool: Pool,
  work: (tx: Transaction) => Promise<Result>,
): Promise<Result>;
export function inTransaction<Result>(
  db: Pool | TenantDb,
  work: (tx: never) => Promise<Result>,
): Promise<Result> {
  const tenant = 'unbound' in db ? db.tenant : undefined;
  return databaseOf('unbound' in db ? db.unbound : db)
    .transaction()
    .execute((tx) => work((tenant === undefined ? tx : forTenant(tx, tenant)) as never));
}

/**
 * A transaction in which a tenant's rows are counted against a limit: those of other processes wait until it commits. A
 * statement that takes the lock itself would count as of the time before it waited.
 */
export function inTenantLock<Result>(db: TenantDb, work: (tx: TenantTx) => Promise<Result>): Promise<Result> {
  return inTransaction(db, async (tx) => {
    await lockTenant(tx);
    return work(tx);
  });
}

/** Keeps the lock until the transaction ends. New rows that refer to the tenant do not wait for it. */
export async function lockTenant(tx: TenantTx): Promise<void> {
  await execute(tx)`select from tenants where id = ${tx} for no key update`;
}
