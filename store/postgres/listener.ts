/** One LISTEN connection that reconnects by itself. A notice only means "read again": the tables have the truth. */
import { Client } from 'pg';

const RECONNECT_MS = [100, 500, 1_000, 2_000, 5_000] as const;

/**
 * Connects in the background and retries without end. `channel` is a plain name. Errors go to the callback; nothing is
 * thrown.
 */
export function listenTo(
  channel: string,
  options: {
    readonly databaseUrl: string;
    readonly applicationName: string;
    readonly onError: (error: unknown) => void;
    /** Called after each connection: notices before it may be lost. */
    readonly onConnected: () => void;
    readonly onNotice: (payload: string) => void;
  },
): { close(): Promise<void> } {
  const { onError } = options;
  let closed = false;
  let client: Client | undefined;
  let retry: NodeJS.Timeout | undefined;
  let failures = 0;

  function again(): void {
    if (closed || retry) return;
    const wait = RECONNECT_MS[Math.min(failures, RECONNECT_MS.length - 1)];
    failures += 1;
    retry = setTimeout(() => {
      retry = undefined;
      void connect();
    }, wait);
  }

  async function connect(): Promise<void> {
    const next = new Client({
      connectionString: options.databaseUrl,
      application_name: options.applicationName,
      connectionTimeoutMillis: 10_000,
      keepAlive: true,
    });
    client = next;
    next.on('error', onError);
    next.on('end', () => {
      if (client === next) again();
    });
    next.on('notification', (notice) => {
      if (notice.channel === channel && notice.payload !== undefined) options.onNotice(notice.payload);
    });
    try {
      await next.connect();
      await next.query(`listen ${channel}`);
      failures = 0;
      options.onConnected();
    } catch (error) {
      onError(error);
      await next.end().catch(onError);
      again();
    }
  }

  const first = connect();
  return {
    async close() {
      closed = true;
      clearTimeout(retry);
      await first;
      await client?.end().catch(onError);
    },
  };
}
