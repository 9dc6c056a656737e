/** Pages that were read lately, in this process: each is seen by the tenant and under the rules that it was asked with only. */
import type { Page } from './web-pages.ts';

/** REFERENCE §6. */
const FRESH_MS = 15 * 60_000;
const MAX_PAGES = 100;
/** Characters of all of them. */
const MAX_CHARACTERS = 32 * 1024 * 1024;

export interface CachedPage {
  readonly page: Page;
  readonly etag: string | null;
  readonly lastModified: string | null;
}

export interface PageCache {
  /** An old one is to be asked for again, with what it says of itself. */
  get(key: string): (CachedPage & { readonly isFresh: boolean }) | undefined;
  /** Also one that was found unchanged. */
  put(key: string, entry: CachedPage): void;
}

export function createPageCache(now: () => number): PageCache {
  const entries = new Map<string, CachedPage & { readonly until: number }>();
  let characters = 0;

  function remove(key: string): void {
    characters -= entries.get(key)?.page.text.length ?? 0;
    entries.delete(key);
  }

  return {
    get(key) {
      const entry = entries.get(key);
      return entry && { ...entry, isFresh: now() < entry.until };
    },

    put(key, entry) {
      remove(key);
      if (entry.page.text.length > MAX_CHARACTERS / 4) return;
      entries.set(key, { ...entry, until: now() + FRESH_MS });
      characters += entry.page.text.length;
      for (const oldest of entries.keys()) {
        if (entries.size <= MAX_PAGES && characters <= MAX_CHARACTERS) break;
        remove(oldest);
      }
    },
  };
}
