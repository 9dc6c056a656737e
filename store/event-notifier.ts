/**
 * Tells readers that a session's feed has grown. Notices go out together on a connection of their own after the commit,
 * since a NOTIFY inside a transaction makes all commits of the database wait for each other; its own commit waits for no
 * disk. One that is lost with its process is made up for by the readers' own poll.
 */
import type { Pool } from './pool.ts';

export const EVENT_CHANNEL = 'tempoclaw_events';

/** Long enough to gather what a step writes, too short to be seen. */
const GATHER_MS = 40;

export interface EventNotifier {
  /** Never throws and never waits. */
  readonly poke: (tenant: string, session: string) => void;
  /** Sends what is gathered. */
  close(): Promise<void>;
}

export function createEventNotifier(pool: Pool, onError: (error: unknown) => void): EventNotifier {
  const gathered = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  let sending: Promise<void> = Promise.resolve();

  async function send(): Promise<void> {
    timer = undefined;
    const payloads = [...gathered];
    gathered.clear();
    if (payloads.length === 0) return;
    try {
      await pool.query({
        name: 'notify_events',
        text: `select set_config('synchronous_commit', 'off', true), pg_notify($1, payload) from unnest($2::text[]) as payload`,
        values: [EVENT_CHANNEL, payloads],
      });
    } catch (error) {
      onError(error);
    }
  }

  return {
    poke(tenant, session) {
      gathered.add(`${tenant}/${session}`);
      timer ??= setTimeout(() => {
        sending = send();
      }, GATHER_MS);
    },
    async close() {
      clearTimeout(timer);
      await sending;
      await send();
    },
  };
}
