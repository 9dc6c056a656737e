/** Whether Postgres writes, and has room to: a question that reading does not answer. */
import type { Pool } from './pool.ts';

/**
 * Throws what a write would throw. Lists more than may be kept in memory, so that Postgres writes a file of 140 KB beside the
 * tables and removes it: no row, no log, nothing to sync, and it may run at any time. The lock is of no row, and refused where Postgres only reads.
 */
export async function probeWrite(pool: Pool): Promise<void> {
  // One message is one transaction, with which the setting ends.
  await pool.query(
    "SET LOCAL work_mem = '64kB'; SELECT count(*) FROM generate_series(1, 10000); SELECT FROM tenants WHERE false FOR UPDATE",
  );
}
