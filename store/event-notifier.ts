/**
 * Tells readers that a session's feed has grown. Notices go out together on a connection of their own after the commit,
 * since a NOTIFY inside a transaction makes all commits of the database wait for each other; its own commit waits for no
 * disk. One that is lost with its process is made up for by the readers' own poll. The same statement says whether any of it is
 * due elsewhere.
 */
import type { Pool } from './pool.ts';

export const EVENT_CHANNEL = 'tempoclaw_events';

/** Before the session's name in a notice: somebody may wait for just this. */
export const AT_ONCE = '!';

/** What a busy process has to tell is gathered for so long: too short to be seen. */
const GATHER_MS = 40;

/** Between two looks for deliveries that are due. */
const DUE_MS = 100;

/**
 * Never throws and never waits. `atOnce`: the end of a turn, a question, the first words of an answer. The rest is told within
 * `GATHER_MS`.
 */
export type NotifyReaders = (tenant: string, session: string, isImmediate?: boolean) => void;

export interface EventNotifier {
  readonly notify: NotifyReaders;
  /** Calls `start` after notices while the condition holds: SQL of the one who asks, which sees the database alone. */
  whenDue(condition: string, start: () => Promise<unknown>): void;
  /** Sends what is gathered. */
  close(): Promise<void>;
}

export function createEventNotifier(pool: Pool, onError: (error: unknown) => void): EventNotifier {
  /** Whether it is to be told at once, by session. */
  const gathered = new Map<string, boolean>();
  let timer: NodeJS.Timeout | undefined;
  let sending: Promise<void> = Promise.resolve();
  let sentAt = 0;
  let due: { readonly condition: string; readonly start: () => Promise<unknown> } | undefined;
  let isStarting = false;
  let isDueAgain = false;

  /** One after the other, since what is due may have to wait all the same: for a place, or for its order. */
  function startDeliveries(): void {
    isDueAgain = isStarting;
    if (!due || isStarting) return;
    isStarting = true;
    const end = (): void => {
      isStarting = false;
      if (isDueAgain) startDeliveries();
    };
    void due
      .start()
      .catch(onError)
      .finally(() => setTimeout(end, DUE_MS).unref());
  }

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    sentAt = performance.now();
    sending = send();
  }

  async function send(): Promise<void> {
    const payloads = Array.from(gathered, ([name, isImmediate]) =>
      isImmediate ? `${AT_ONCE}${name}` : name,
    );
    gathered.clear();
    if (payloads.length === 0) return;
    try {
      const { rows } = await pool.query<{ is_due: boolean }>({
        name: due ? 'notify_events' : 'notify_readers',
        text: `select set_config('synchronous_commit', 'off', true), pg_notify($1, payload), ${due?.condition ?? 'false'} as is_due
          from unnest($2::text[]) as payload`,
        values: [EVENT_CHANNEL, payloads],
      });
      if (rows[0]?.is_due) startDeliveries();
    } catch (error) {
      onError(error);
    }
  }

  return {
    notify(tenant, session, isImmediate = false) {
      const name = `${tenant}/${session}`;
      gathered.set(name, isImmediate || (gathered.get(name) ?? false));
      if (isImmediate) flush();
      else timer ??= setTimeout(flush, Math.max(0, sentAt + GATHER_MS - performance.now()));
    },
    whenDue(condition, start) {
      due = { condition, start };
    },
    async close() {
      flush();
      await sending;
    },
  };
}
