/** Reads something of the API for as long as a component is shown. */
import { type Signal, useSignal } from '@preact/signals';
import { useCallback, useEffect, useRef } from 'preact/hooks';
import { useNewest } from '../app/use-newest.ts';
import { type Change, followChanges, isFollowing } from './changes.ts';
import type { AnswerOf } from '@tempoclaw/client';
import type { Problem } from './problem.ts';
import { addressOf, type OperationName, type RequestParts, requestAt } from './request.ts';

export interface Reading<Answer> {
  readonly data: Signal<Answer | undefined>;
  /** Of the last try; older data is kept. */
  readonly problem: Signal<Problem | undefined>;
  reload(): void;
}

export interface ReadingOptions {
  readonly everyMs?: number | undefined;
  /** Whether it is read again after a change. `everyMs` is then for while the stream of changes is down. */
  readonly after?: ((change: Change) => boolean) | undefined;
}

/** Milliseconds between two readings while the stream of changes is down. */
const CUT_MS = 10_000;

/** For what any session may change. */
export const AFTER_SESSIONS: ReadingOptions = {
  after: ({ sessions }) => sessions === null || sessions.length > 0,
  everyMs: CUT_MS,
};

/** For what one session changes. */
export function afterSession(key: string): ReadingOptions {
  return { after: ({ sessions }) => sessions === null || sessions.includes(key), everyMs: CUT_MS };
}

/** For what the tasks of a team change. */
export function afterTeam(team: string): ReadingOptions {
  return { after: ({ teams }) => teams === null || teams.includes(team), everyMs: CUT_MS };
}

/** Pause between two readings after changes. */
const PAUSE_MS = 500;

export function useRequest<Name extends OperationName>(
  name: Name,
  parts: RequestParts<Name>,
  options?: ReadingOptions,
): Reading<AnswerOf<Name>> {
  const { method, address } = addressOf(name, parts);
  return useRequestAt(method, address, parts.body, options);
}

/** Reads again when its address changes, when the person returns to the page, and while it is seen as the options say. */
export function useRequestAt<Answer>(
  method: string,
  address: string,
  body?: unknown,
  { everyMs, after }: ReadingOptions = {},
): Reading<Answer> {
  const data = useSignal<Answer | undefined>(undefined);
  const problem = useSignal<Problem | undefined>(undefined);
  const newest = useNewest({ address, body, after });
  const asking = useRef<AbortController | undefined>(undefined);
  const running = useRef<Promise<void>>(Promise.resolve());
  const reload = useCallback(() => {
    asking.current?.abort();
    const current = new AbortController();
    asking.current = current;
    const read = async (): Promise<void> => {
      const { address: from, body: sent } = newest.current;
      const result = await requestAt<Answer>(method, from, sent, { signal: current.signal });
      problem.value = result.ok ? undefined : result.problem;
      if (result.ok) data.value = result.data;
    };
    // It is only rejected when a newer request has taken its place, or nobody needs it any more.
    running.current = read().catch(() => undefined);
  }, [method, newest]);
  const identity = JSON.stringify([address, body]);
  const follows = after !== undefined;
  useEffect(() => {
    reload();
    const reloadSeen = (): void => {
      if (!document.hidden) reload();
    };
    const timer = everyMs && setInterval(() => (follows && isFollowing()) || reloadSeen(), everyMs);
    let pause: ReturnType<typeof setTimeout> | undefined;
    let isOver = false;
    const unfollow = follows
      ? followChanges((change) => {
          if (change && !newest.current.after?.(change)) return;
          // One that has begun is read to its end, also while changes come faster than answers.
          pause ??= setTimeout(async () => {
            await running.current;
            pause = undefined;
            if (!isOver) reloadSeen();
          }, PAUSE_MS);
        })
      : () => undefined;
    document.addEventListener('visibilitychange', reloadSeen);
    return () => {
      isOver = true;
      if (timer) clearInterval(timer);
      clearTimeout(pause);
      unfollow();
      document.removeEventListener('visibilitychange', reloadSeen);
      asking.current?.abort();
    };
  }, [identity, everyMs, follows, reload, newest]);
  return { data, problem, reload };
}
