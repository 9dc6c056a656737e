/** What one activity of this worker has read or written and the next one would query from the ledger again. */

export interface OneTimeCache<Item> {
  /**
   * `readAt` (performance.now) is when its rules were read: they are valid for a moment, then the ledger is queried.
   */
  put(key: string, item: Item, readAt: number): void;
  /** Each item is returned once: a second attempt queries the ledger, which knows the outcome of the first. */
  take(key: string): { readonly item: Item; readonly readAt: number } | undefined;
}

/** A change of a rule takes effect after at most this time. */
export const FRESH_MS = 1_000;
/** More than a worker does at once; remaining items belong to work that another worker took. */
const MAX = 1_000;

export function createOneTimeCache<Item>(now: () => number = () => performance.now()): OneTimeCache<Item> {
  const items = new Map<string, { readonly item: Item; readonly readAt: number }>();
  return {
    put(key, item, readAt) {
      // A key that is put again becomes the newest.
      items.delete(key);
      items.set(key, { item, readAt });
      for (const [oldest, { readAt: since }] of items) {
        if (items.size <= MAX && now() - since < FRESH_MS) break;
        items.delete(oldest);
      }
    },
    take(key) {
      const found = items.get(key);
      items.delete(key);
      return found && now() - found.readAt < FRESH_MS ? found : undefined;
    },
  };
}
