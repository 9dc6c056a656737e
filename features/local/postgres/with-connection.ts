/** One connection to a database that `doctor` asks something. */
import { Client } from 'pg';

const TIMEOUT_MS = 10_000;

/** Each of connecting and a statement takes at most 10 s. Throws what the server or the connection throws. */
export async function withConnection<Result>(
  url: string,
  work: (client: Client) => Promise<Result>,
): Promise<Result> {
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: TIMEOUT_MS,
    query_timeout: TIMEOUT_MS,
  });
  // The next statement reports a connection that breaks.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}
