/** Transactions that read or write all rows of a tenant. */
import pg from 'pg';

/** A connection without the limits of the pool, whose transaction is open during `work`. */
export async function inLongTransaction<Result>(
  databaseUrl: string,
  kind: 'read' | 'write',
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const client = new pg.Client({ connectionString: databaseUrl, application_name: 'tempoclaw-tenants' });
  // The next statement reports a connection that breaks.
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query(kind === 'read' ? 'begin isolation level repeatable read, read only' : 'begin');
    // Times as each database writes them, whatever its settings are.
    await client.query(
      `select set_config('timezone', 'UTC', true), set_config('datestyle', 'ISO', true), set_config('bytea_output', 'hex', true),
        set_config('extra_float_digits', '1', true), set_config('intervalstyle', 'iso_8601', true), set_config('tempoclaw.moving', 'on', true)`,
    );
    const result = await work(client);
    await client.query('commit');
    return result;
  } finally {
    await client.end().catch(() => undefined);
  }
}
