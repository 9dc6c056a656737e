/**
 * One reader of what changes in a tenant. It learns of changes by the one connection that listens for all readers of the
 * process, and gets names only: which sessions have new events, and which teams other tasks. So a busy tenant costs a
 * reader a few small frames a second, and no query unless the reader is confined to a user.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { teamNotice } from '#store/event-notifier.ts';
import { readLastEventIds } from '#store/event-store.ts';
import type { ApiDeps } from './deps.ts';
import type { Caller } from './server/auth.ts';
import type { SseSource } from './server/sse-stream.ts';

/** Milliseconds between two frames. */
const PAUSE_MS = 250;
/** Names that a frame has at most; beyond that, anything may have changed. */
const MAX_NAMES = 200;

const TEAM = teamNotice('');

interface Change {
  readonly sessions: readonly string[] | null;
  readonly teams: readonly string[] | null;
}

export function changeSource(
  { pool, feed }: Pick<ApiDeps, 'pool' | 'feed'>,
  { tenant, confinedTo }: Pick<Caller, 'tenant' | 'confinedTo'>,
): SseSource {
  const changed = new Set<string>();
  let isAll = false;

  /** Those of the user, when the reader sees no others. */
  async function reachable(sessions: readonly string[]): Promise<readonly string[]> {
    if (confinedTo === null || sessions.length === 0) return sessions;
    const rows = await readLastEventIds(
      pool,
      sessions.map((session) => ({ tenant, session })),
    );
    return rows.filter(({ user }) => user === confinedTo).map(({ session }) => session);
  }

  async function takeChange(): Promise<Change> {
    const [names, all] = [[...changed], isAll];
    changed.clear();
    isAll = false;
    if (all) return { sessions: null, teams: null };
    const teams = names.filter((name) => name.startsWith(TEAM)).map((name) => name.slice(TEAM.length));
    return { sessions: await reachable(names.filter((name) => !name.startsWith(TEAM))), teams };
  }

  return {
    subscribe: (wake) =>
      feed.subscribeAll(tenant, (name) => {
        if (name === undefined || changed.size >= MAX_NAMES) isAll = true;
        else changed.add(name);
        wake();
      }),
    async sendNew(write, signal) {
      while (!signal.aborted && (isAll || changed.size > 0)) {
        const change = await takeChange();
        const isEmpty = change.sessions?.length === 0 && change.teams?.length === 0;
        if (!isEmpty) await write(`event: change\ndata: ${JSON.stringify(change)}\n\n`);
        // It is only rejected when the reader is gone.
        await sleep(PAUSE_MS, undefined, { signal }).catch(() => undefined);
      }
    },
  };
}
