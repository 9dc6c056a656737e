/** Reads something of the API for as long as a component is shown. */
import { type Signal, useSignal } from '@preact/signals';
import { useCallback, useEffect, useRef } from 'preact/hooks';
import type { Operations } from './operations.ts';
import type { Problem } from './problem.ts';
import { useNewest } from '../app/use-newest.ts';
import { addressOf, type OperationName, requestAt, type RequestParts } from './request.ts';

export interface Reading<Answer> {
  readonly data: Signal<Answer | undefined>;
  /** Of the last try; older data is kept. */
  readonly problem: Signal<Problem | undefined>;
  reload(): void;
}

export function useRequest<Name extends OperationName>(
  name: Name,
  parts: RequestParts<Name>,
  options?: ReadingOptions,
): Reading<Operations[Name]['answer']> {
  const { method, address } = addressOf(name, parts);
  return useRequestAt(method, address, (parts as { readonly body?: unknown }).body, options);
}

interface ReadingOptions {
  readonly everyMs?: number;
}

/** Reads again when its address changes, when the person returns to the page, and each `everyMs` while it is seen. */
export function useRequestAt<Answer>(
  method: string,
  address: string,
  body?: unknown,
  { everyMs }: ReadingOptions = {},
): Reading<Answer> {
  const data = useSignal<Answer | undefined>(undefined);
  const problem = useSignal<Problem | undefined>(undefined);
  const newest = useNewest({ address, body });
  const asking = useRef<AbortController | undefined>(undefined);
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
    read().catch(() => undefined);
  }, [method, newest]);
  const identity = JSON.stringify([address, body]);
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
