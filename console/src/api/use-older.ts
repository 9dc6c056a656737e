/** The pages of a list after its first, each read when its place comes in sight. */
import { type Signal, useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { requestAt } from './request.ts';

export interface ListPage<Row> {
  readonly data: readonly Row[];
  readonly next_cursor?: string | null;
}

interface Older<Row> {
  readonly rows: Signal<readonly Row[]>;
  clear(): void;
  load(first: ListPage<Row>): Promise<void>;
}

/** `address` is that of the first page, with its query. */
export function useOlder<Row>(address: string): Older<Row> {
  const rows = useSignal<readonly Row[]>([]);
  const state = useRef<{ cursor: string | null | undefined; isLoading: boolean }>({
    cursor: undefined,
    isLoading: false,
  });
  return {
    rows,
    clear() {
      rows.value = [];
      state.current = { cursor: undefined, isLoading: false };
    },
    async load(first) {
      const current = state.current;
      const after = current.cursor === undefined ? (first.next_cursor ?? null) : current.cursor;
      if (current.isLoading || after === null) return;
      current.isLoading = true;
      const next = `${address}&after=${encodeURIComponent(after)}`;
      const result = await requestAt<ListPage<Row>>('GET', next);
      current.isLoading = false;
      if (state.current !== current || !result.ok) return;
      current.cursor = result.data.next_cursor ?? null;
      rows.value = [...rows.value, ...result.data.data];
    },
  };
}
