/** What no two processes may do at the same time for one tenant. */
import pg from 'pg';

/**
 * Waits for whoever does something like it. The lock belongs to a connection and not to a transaction, which would keep
 * old rows of all tenants; so it ends with the process.
 */
export async function alone<Result>(
  databaseUrl: string,
  tenant: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const client = new pg.Client({ connectionString: databaseUrl, application_name: 'tempoclaw-tenants' });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('select pg_advisory_lock(hashtextextended($1, 0))', [`tenant_move ${tenant}`]);
    return await work();
  } finally {
    await client.end().catch(() => undefined);
  }
}
