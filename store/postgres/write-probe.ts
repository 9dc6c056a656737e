/** Whether Postgres can write and has space, which a read does not show. */
import type { Pool } from './pool.ts';

/**
 * Throws what a write would throw. It lists more than may be kept in memory, so that Postgres writes a file of 140 KB
 * beside the tables and removes it. It writes no row and no log, syncs nothing, and may run at any time. The lock
 * belongs to no row, and is refused when Postgres is read-only.
 */
export async function probeWrite(pool: Pool): Promise<void> {
  // One message is one transaction; the setting ends with it.
  await pool.query(
    "SET LOCAL work_mem = '64kB'; SELECT count(*) FROM generate_series(1, 10000); SELECT FROM tenants WHERE false FOR UPDATE",
  );
}
