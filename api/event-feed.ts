/**
 * Wakes readers of sessions' feeds in this process. It has one LISTEN connection for all of them, and a poll that makes
 * up for lost notifications. It only says that there may be something new; the table is the source.
 */
import { AT_ONCE, EVENT_CHANNEL } from '#store/event-notifier.ts';
import { readLastEventIds } from '#store/event-store.ts';
import { listenTo } from '#store/postgres/listener.ts';
import type { Pool } from '#store/postgres/pool.ts';

/** How long a lost notification can delay a reader. */
const POLL_MS = 2_000;

export interface EventFeed {
  /**
   * Calls `wake` whenever the session may have new events; returns a function that ends this. `wake` must not throw.
   * `isImmediate` means that a turn may have ended or waits for a decision, or that an answer has started.
   * `onOwner` is called every two seconds with the user whose session it is, null when it is nobody's, and undefined when
   * it does not exist any more.
   */
  subscribe(tenant: string, session: string, wake: Wake, onOwner?: OnOwner): () => void;
  /**
   * Does the same for all sessions and teams of the tenant, but without a poll, so its reader must check by itself now
   * and then. `name` is the session, or as `teamNotice` has it; undefined when anything may have happened.
   */
  subscribeAll(tenant: string, wake: (name?: string) => void): () => void;
  close(): Promise<void>;
}

type Wake = (isImmediate: boolean) => void;
type OnOwner = (user: string | null | undefined) => void;

interface Watched {
  readonly tenant: string;
  readonly session: string;
  readonly readers: Set<Wake>;
  readonly onOwner: Set<OnOwner>;
  last: number;
}

/** Connects in the background, and reconnects for as long as necessary. Reports errors and never throws them. */
export function createEventFeed(options: {
  readonly databaseUrl: string;
  readonly pool: Pool;
  readonly onError: (error: unknown) => void;
}): EventFeed {
  const watched = new Map<string, Watched>();
  const tenants = new Map<string, Set<(name?: string) => void>>();
  const wakeAll = (): void => {
    for (const { readers } of watched.values()) for (const wake of readers) wake(true);
    for (const readers of tenants.values()) for (const wake of readers) wake();
  };
  const listener = listenTo(EVENT_CHANNEL, {
    databaseUrl: options.databaseUrl,
    applicationName: 'tempoclaw-api-events',
    onError: options.onError,
    // Anything may have happened while there was no listener.
    onConnected: wakeAll,
    onNotice(payload) {
      const isImmediate = payload.startsWith(AT_ONCE);
      const name = isImmediate ? payload.slice(AT_ONCE.length) : payload;
      for (const wake of watched.get(name)?.readers ?? []) wake(isImmediate);
      const cut = name.indexOf('/');
      for (const wake of tenants.get(name.slice(0, cut)) ?? []) wake(name.slice(cut + 1));
    },
  });

  let polling = false;
  async function poll(): Promise<void> {
    if (polling || watched.size === 0) return;
    polling = true;
    try {
      const requested = [...watched.values()];
      const found = await readLastEventIds(options.pool, requested);
      const rows = new Map(found.map((row) => [`${row.tenant}/${row.session}`, row]));
      for (const one of requested) {
        const row = rows.get(`${one.tenant}/${one.session}`);
        for (const report of one.onOwner) report(row?.user);
        if (!row || one.last === row.last) continue;
        one.last = row.last;
        for (const wake of one.readers) wake(true);
      }
    } catch (error) {
      options.onError(error);
    } finally {
      polling = false;
    }
  }
  const timer = setInterval(() => void poll(), POLL_MS);

  return {
    subscribe(tenant, session, wake, onOwner) {
      const name = `${tenant}/${session}`;
      const one = watched.get(name) ?? { tenant, session, readers: new Set(), onOwner: new Set(), last: -1 };
      watched.set(name, one);
      one.readers.add(wake);
      if (onOwner) one.onOwner.add(onOwner);
      return () => {
        one.readers.delete(wake);
        if (onOwner) one.onOwner.delete(onOwner);
        if (one.readers.size === 0 && watched.get(name) === one) watched.delete(name);
      };
    },
    subscribeAll(tenant, wake) {
      const readers = tenants.get(tenant) ?? new Set();
      tenants.set(tenant, readers);
      readers.add(wake);
      return () => {
        readers.delete(wake);
        if (readers.size === 0 && tenants.get(tenant) === readers) tenants.delete(tenant);
      };
    },
    async close() {
      clearInterval(timer);
      watched.clear();
      tenants.clear();
      await listener.close();
    },
  };
}
