/**
 * Notifies readers that a session's feed has grown. Notices are sent together on a separate connection after the
 * commit, because a NOTIFY inside a transaction makes all commits of the database wait for each other. Their own commit
 * waits for no disk. The readers' poll makes up for a notice that is lost with its process. The same statement checks
 * whether a delivery is due elsewhere.
 */
import type { Pool } from './postgres/pool.ts';

export const EVENT_CHANNEL = 'tempoclaw_events';

/** Prefix of the session's name in a notice that a reader may be waiting for. */
export const AT_ONCE = '!';

/** The name that stands for a session in a notice about a team's tasks; no session has it. */
export function teamNotice(team: string): string {
  return `team/${team}`;
}

/** How long a busy process gathers notices: too short to be noticed. */
const GATHER_MS = 40;

/** Milliseconds between two checks for due deliveries. */
const DUE_MS = 100;

/**
 * Never throws and never waits. `isImmediate` is for the end of a turn, a question, the first words of an answer. Other
 * notices are sent within `GATHER_MS`.
 */
export type NotifyReaders = (tenant: string, session: string, isImmediate?: boolean) => void;

export interface EventNotifier {
  readonly notify: NotifyReaders;
  /** Calls `start` after notices while the condition holds: SQL of the caller, which only the database sees. */
  whenDue(condition: string, start: () => Promise<unknown>): void;
  /** Sends the gathered notices. */
  close(): Promise<void>;
}

export function createEventNotifier(pool: Pool, onError: (error: unknown) => void): EventNotifier {
  /** Whether to notify immediately, by session. */
  const gathered = new Map<string, boolean>();
  let timer: NodeJS.Timeout | undefined;
  let sending: Promise<void> = Promise.resolve();
  let sentAt = 0;
  let due: { readonly condition: string; readonly start: () => Promise<unknown> } | undefined;
  let isStarting = false;
  let isDueAgain = false;

  /** One after the other, because a due delivery may still have to wait, for a slot or for its order. */
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
