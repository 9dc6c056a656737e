/** Follows one turn for a protocol: what happened since the last look, and whether it ended or waits for somebody. */
import { type ApprovalRow, listApprovals } from '#store/approvals/approval-store.ts';
import { readEvents, readLastEventIds } from '#store/event-store.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { findTurn, type TurnRow } from '#store/turns/turn-store.ts';
import type { EventType, StoredEvent } from '#domain/event.ts';
import { createNotifier } from './notifier.ts';
import type { ApiDeps } from './deps.ts';
import type { Caller } from './server/auth.ts';
import { hasEnded } from './turn-wait.ts';

const PAGE = 200;
/** A step makes at most as many calls. */
const MAX_WAITING = 64;

/** Events with which a turn's status changes. */
const CHANGES: ReadonlySet<EventType> = new Set([
  'turn.completed',
  'turn.failed',
  'turn.stopped',
  'approval.requested',
  'approval.decided',
]);

export interface TurnNews {
  /** Those of the turn, oldest first. */
  readonly events: readonly StoredEvent[];
  /** The turn, when it has ended. */
  readonly ended?: TurnRow | undefined;
  /** While the turn does nothing but wait: the approvals that the caller sees. */
  readonly waits: readonly ApprovalRow[];
}

export interface FollowedTurn {
  readonly session: string;
  readonly id: string;
}

export interface StartedTurn extends FollowedTurn {
  /** What it writes is in later events of the session. */
  readonly after: number;
}

/** The last event of a session; later ones are new. */
export async function lastEventOf(
  { pool }: Pick<ApiDeps, 'pool'>,
  tenant: string,
  session: string,
): Promise<number> {
  const [row] = await readLastEventIds(pool, [{ tenant, session }]);
  return row?.last ?? 0;
}

export interface TurnFollower {
  /** Calls `wake` when there may be news; returns a function that ends this. */
  subscribe(wake: () => void): () => void;
  /** What happened since the last call. The end comes with or after the turn's last event. */
  news(): Promise<TurnNews>;
}

/** Begins after the event `after` of the session. */
export function createTurnFollower(
  { pool, feed }: Pick<ApiDeps, 'pool' | 'feed'>,
  caller: Caller,
  { session, id }: FollowedTurn,
  after: number,
): TurnFollower {
  const db = forTenant(pool, caller.tenant);
  let last = after;

  async function readNew(): Promise<StoredEvent[]> {
    const found: StoredEvent[] = [];
    for (;;) {
      const events = await readEvents(db, session, last, PAGE);
      last = events.at(-1)?.id ?? last;
      found.push(...events.filter(({ turn_id: turn }) => turn === id));
      if (events.length < PAGE) return found;
    }
  }

  return {
    subscribe: (wake) => feed.subscribe(caller.tenant, session, wake),
    async news() {
      // An end that the row shows has its events by then, and a change between the two is seen by its event.
      const before = await findTurn(db, id);
      const events = await readNew();
      const turn = events.some(({ type }) => CHANGES.has(type)) ? await findTurn(db, id) : before;
      if (turn && hasEnded(turn)) return { events, ended: turn, waits: [] };
      if (turn?.status !== 'waiting_approval') return { events, waits: [] };
      const filter = { status: 'pending', turn: id } as const;
      return { events, waits: await listApprovals(db, caller, filter, MAX_WAITING, undefined) };
    },
  };
}

/** Waits for news until `isDone` returns true or `signal` is aborted; returns the last. */
export async function followUntil(
  follower: TurnFollower,
  signal: AbortSignal,
  isDone: (news: TurnNews) => boolean,
): Promise<void> {
  const bell = createNotifier();
  const unsubscribe = follower.subscribe(bell.ring);
  signal.addEventListener('abort', bell.ring);
  try {
    while (!signal.aborted && !isDone(await follower.news())) await bell.wait(SILENCE_MS);
  } finally {
    signal.removeEventListener('abort', bell.ring);
    unsubscribe();
  }
}

/** Longer than the feed's own check for lost notifications. */
const SILENCE_MS = 10_000;
