/** A list: its first page, which is read again as the options say, and the others as their places come in sight. */
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { requestAt } from './request.ts';
import { type ReadingOptions, useRequestAt } from './use-request.ts';

interface ListPage<Row> {
  readonly data: readonly Row[];
  readonly next_cursor?: string | null;
}

const NOTHING = { cursor: undefined as string | null | undefined, isLoading: false };

/** `address` has a query. What is read of another address is dropped. */
export function useList<Row>(address: string, options?: ReadingOptions) {
  const first = useRequestAt<ListPage<Row>>('GET', address, undefined, options);
  const older = useSignal<readonly Row[]>([]);
  const state = useRef({ ...NOTHING });
  const clear = (): void => {
    older.value = [];
    state.current = { ...NOTHING };
  };
  useEffect(clear, [address]);
  const more = async (): Promise<void> => {
    const { current } = state;
    const after = current.cursor === undefined ? first.data.value?.next_cursor : current.cursor;
    if (current.isLoading || !after) return;
    current.isLoading = true;
    const result = await requestAt<ListPage<Row>>('GET', `${address}&after=${encodeURIComponent(after)}`);
    current.isLoading = false;
    if (state.current !== current || !result.ok) return;
    current.cursor = result.data.next_cursor ?? null;
    older.value = [...older.value, ...result.data.data];
  };
  return {
    first,
    /** Undefined before the first page is there. */
    rows: first.data.value && [...first.data.value.data, ...older.value],
    more: (): void => void more(),
    reload(): void {
      clear();
      first.reload();
    },
  };
}
