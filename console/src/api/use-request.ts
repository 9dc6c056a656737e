/** Reads something of the API for as long as a component is shown. */
import { type Signal, useSignal } from '@preact/signals';
import { useCallback, useEffect, useRef } from 'preact/hooks';
import type { Operations } from './operations.ts';
import type { Problem } from './problem.ts';
import { type OperationName, request, type RequestParts } from './request.ts';

export interface Reading<Answer> {
  readonly data: Signal<Answer | undefined>;
  /** Of the last try; older data is kept. */
  readonly problem: Signal<Problem | undefined>;
  reload(): void;
}

/** Reads again when `parts` change, when the person returns to the page, and each `everyMs` while it is seen. */
export function useRequest<Name extends OperationName>(
  name: Name,
  parts: RequestParts<Name>,
  { everyMs }: { readonly everyMs?: number } = {},
): Reading<Operations[Name]['answer']> {
  const data = useSignal<Operations[Name]['answer'] | undefined>(undefined);
  const problem = useSignal<Problem | undefined>(undefined);
  const newest = useRef(parts);
  newest.current = parts;
  const asking = useRef<AbortController | undefined>(undefined);
  const reload = useCallback(() => {
    asking.current?.abort();
    const current = new AbortController();
    asking.current = current;
    const read = async (): Promise<void> => {
      const result = await request(name, newest.current, { signal: current.signal });
      problem.value = result.ok ? undefined : result.problem;
      if (result.ok) data.value = result.data;
    };
    // It is only rejected when a newer request has taken its place, or nobody needs it any more.
    read().catch(() => undefined);
  }, [name]);
  const identity = JSON.stringify(parts);
  useEffect(() => {
    reload();
    const reloadSeen = (): void => {
      if (!document.hidden) reload();
    };
    const timer = everyMs === undefined ? undefined : setInterval(reloadSeen, everyMs);
    document.addEventListener('visibilitychange', reloadSeen);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', reloadSeen);
      asking.current?.abort();
    };
  }, [identity, everyMs, reload]);
  return { data, problem, reload };
}
