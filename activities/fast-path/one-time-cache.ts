/** What one activity of this worker has read or written and the next one would ask the ledger for again. */

export interface OneTimeCache<Item> {
  /** `readAt` (performance.now) is when the rules in it were read: they hold for a moment, then the ledger is asked. */
  put(key: string, item: Item, readAt: number): void;
  /** Each is given once: a second attempt asks the ledger, which knows what became of the first. */
  take(key: string): { readonly item: Item; readonly readAt: number } | undefined;
}

/** A rule that was changed so long ago holds for what is done now. */
export const FRESH_MS = 1_000;
/** More than a worker does at once; what is left over belongs to what another worker took. */
const MAX = 1_000;

export function createOneTimeCache<Item>(now: () => number = () => performance.now()): OneTimeCache<Item> {
  const items = new Map<string, { readonly item: Item; readonly readAt: number }>();
  return {
    put(key, item, readAt) {
      // Put anew, a key is the youngest again.
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
