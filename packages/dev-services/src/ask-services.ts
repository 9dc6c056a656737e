/** Checks whether Temporal and Postgres answer, and what they report. Each throws the reason when one does not. */
import { Connection, type ConnectionOptions } from '@temporalio/client';
import { Client } from 'pg';

/** The server's version, when it answers for the namespace. */
export async function askTemporal(
  target: ConnectionOptions,
  namespace: string,
  timeoutMs: number,
): Promise<string> {
  let connection: Connection | undefined;
  try {
    connection = await Connection.connect({ ...target, connectTimeout: timeoutMs });
    const { serverVersion } = await connection.workflowService.getSystemInfo({});
    await connection.workflowService.describeNamespace({ namespace });
    return serverVersion || 'unknown';
  } finally {
    await connection?.close();
  }
}

/** The server's version, and by how much its clock is ahead of this machine's. */
export async function askPostgres(
  url: string,
  timeoutMs: number,
): Promise<{ version: string; skewMs: number }> {
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs,
  });
  // A connection that breaks later does not matter: the answer is known.
  client.on('error', () => undefined);
  try {
    await client.connect();
    const before = Date.now();
    const { rows } = await client.query<{ now: number; version: string }>(
      "SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS now, current_setting('server_version') AS version",
    );
    const { now = before, version = 'unknown' } = rows[0] ?? {};
    return { version, skewMs: now - (before + Date.now()) / 2 };
  } finally {
    await client.end().catch(() => undefined);
  }
}
