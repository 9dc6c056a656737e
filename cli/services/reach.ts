/**
 * Checks whether Temporal, Postgres and the API answer, and what they report. Each throws the reason when one does not.
 */
import { Connection } from '@temporalio/client';
import { Client } from 'pg';
import type { Config } from '#config';
import { temporalConnection } from '#config';

type Target = ReturnType<typeof temporalConnection>;

/** What a connection to the server at `address` needs: the settings' own options, or those of a dev server of ours. */
export function connectionTo(config: Config, address: string): Target {
  return config.temporal.address === address ? temporalConnection(config) : { address };
}

/** The server's version, when it answers for the namespace. */
export async function askTemporal(target: Target, namespace: string, timeoutMs: number): Promise<string> {
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

/** The API's version, when it is ready. */
export async function askApi(url: string, timeoutMs: number): Promise<string> {
  const ask = (path: string): Promise<Response> =>
    fetch(`${url}${path}`, {
      headers: { accept: 'application/json' },
      signal: AbortSignal.timeout(timeoutMs),
    });
  const [ready, about] = await Promise.all([ask('/readyz'), ask('/')]);
  const { version } = (await about.json()) as { version: string };
  if (ready.ok) return version;
  const { detail } = (await ready.json()) as { detail?: string };
  throw new Error(`/readyz answers ${ready.status}${detail === undefined ? '' : `: ${detail}`}`);
}
