/** Waits for a turn's end through the feed (IN-1, `?wait=`): events wake it, so it does not poll. */
import { forTenant } from '#store/postgres/tenant-db.ts';
import { findTurn, type TurnRow } from '#store/turns/turn-store.ts';
import { createNotifier } from './notifier.ts';
import type { ApiDeps } from './deps.ts';

const ENDED: ReadonlySet<string> = new Set(['completed', 'failed', 'stopped']);

export function hasEnded(turn: TurnRow | undefined): boolean {
  return turn !== undefined && ENDED.has(turn.status);
}

/**
 * True if the turn has ended or a person must decide first, because nobody waits for a decision on an open connection.
 */
export function hasEndedOrWaitsForApproval(turn: TurnRow | undefined): boolean {
  return hasEnded(turn) || turn?.status === 'waiting_approval';
}

/**
 * Returns the turn's row when `isDone` holds, the time is up or `signal` is aborted; undefined when there is no row
 * yet.
 */
export async function waitForTurn(
  deps: Pick<ApiDeps, 'pool' | 'feed'>,
  turn: { readonly tenant: string; readonly session: string; readonly id: string },
  options: {
    readonly seconds: number;
    readonly signal: AbortSignal;
    readonly isDone?: (turn: TurnRow) => boolean | Promise<boolean>;
    /** The turn has not started; its row is looked up when an event arrives. */
    readonly isNew?: boolean;
  },
): Promise<TurnRow | undefined> {
  const { signal, isDone = hasEnded } = options;
  const deadline = Date.now() + options.seconds * 1000;
  const remaining = (): number => Math.max(0, deadline - Date.now());
  const bell = createNotifier();
  // Pieces of an answer come many times a second, and do not concern the turn's row.
  const unsubscribe = deps.feed.subscribe(turn.tenant, turn.session, (isImmediate) => {
    if (isImmediate) bell.ring();
  });
  signal.addEventListener('abort', bell.ring);
  try {
    if (options.isNew && !signal.aborted) await bell.wait(remaining());
    for (;;) {
      const row = await findTurn(forTenant(deps.pool, turn.tenant), turn.id);
      if ((row && (await isDone(row))) || remaining() === 0 || signal.aborted) return row;
      await bell.wait(remaining());
    }
  } finally {
    signal.removeEventListener('abort', bell.ring);
    unsubscribe();
  }
}
