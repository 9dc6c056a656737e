/** Follows one turn for a protocol: what happened since the last look, and whether it ended or waits for somebody. */
import { type ApprovalRow, listApprovals } from '#store/approvals/approval-store.ts';
import { readEvents, readLastEventIds } from '#store/event-store.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { waitsForWork } from '#store/turns/tool-call-store.ts';
import { findTurn, type TurnRow } from '#store/turns/turn-store.ts';
import type { EventType, StoredEvent } from '#domain/event.ts';
import { Failure } from '#domain/errors.ts';
import { isReachable } from './found.ts';
import { createNotifier } from './notifier.ts';
import type { ApiDeps } from './deps.ts';
import type { Caller } from './server/auth.ts';
import { hasEnded } from './turn-wait.ts';

const PAGE = 200;
/** A step makes at most as many calls. */
const MAX_WAITING = 64;

/** How long a turn says nothing before what its work waits for is looked up. */
const QUIET_MS = 5_000;

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

/**
 * Begins after the event `after` of the session. Its news throw NotFound when the turn is forgotten, or its session
 * becomes another user's.
 */
export function createTurnFollower(
  { pool, feed }: Pick<ApiDeps, 'pool' | 'feed'>,
  caller: Caller,
  { session, id, after }: StartedTurn,
): TurnFollower {
  const db = forTenant(pool, caller.tenant);
  let last = after;
  let isGone = false;
  let receivedAt = performance.now();

  async function readNew(): Promise<StoredEvent[]> {
    const found: StoredEvent[] = [];
    for (;;) {
      const events = await readEvents(db, session, last, PAGE);
      last = events.at(-1)?.id ?? last;
      found.push(...events.filter(({ turn_id: turn }) => turn === id));
      if (events.length < PAGE) return found;
    }
  }

  /** Of the turn itself, or of the work that it waits for without a word. */
  async function readWaits({ status }: TurnRow): Promise<readonly ApprovalRow[]> {
    const isOwn = status === 'waiting_approval';
    const isQuiet = performance.now() - receivedAt >= QUIET_MS;
    if (!isOwn && !isQuiet && !(await waitsForWork(db, { session, id }))) return [];
    const filter = isOwn ? { turn: id } : { requestedOn: { session, turn: id } };
    return listApprovals(db, caller, { status: 'pending', ...filter }, MAX_WAITING, undefined);
  }

  return {
    subscribe: (wake) =>
      feed.subscribe(caller.tenant, session, wake, (user) => {
        if (user !== undefined && isReachable(caller.confinedTo, user)) return;
        isGone = true;
        wake();
      }),
    async news() {
      const events = await readNew();
      if (events.length > 0) receivedAt = performance.now();
      // Pieces of an answer do not change the row.
      if (events.length > 0 && !events.some(({ type }) => CHANGES.has(type))) return { events, waits: [] };
      const turn = isGone ? undefined : await findTurn(db, id);
      if (!turn) throw new Failure('NotFound', 'The turn is no longer there');
      // Its last events were written with its end.
      if (hasEnded(turn)) return { events: [...events, ...(await readNew())], ended: turn, waits: [] };
      return { events, waits: await readWaits(turn) };
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
