/** `tempoclaw/feature/rows`: statements on the rows of a tenant. One that does not name its tenant is refused. */
export type { Pool } from '#store/postgres/pool.ts';
export { affects, execute, readRow, readRows } from '#store/postgres/statements.ts';
export { forTenant, type TenantDb, type TenantTx } from '#store/postgres/tenant-db.ts';
export { inTransaction } from '#store/postgres/transaction.ts';
