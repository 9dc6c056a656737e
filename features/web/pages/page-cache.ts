/**
 * Pages that were read recently in this process. A page is only reused for the tenant and the rules that it was
 * requested with.
 */
import type { PageText } from './page-text.ts';

/** How long a page is reused without a new request. */
const FRESH_MS = 15 * 60_000;
const MAX_PAGES = 100;
/** Characters of all pages together. */
const MAX_CHARACTERS = 32 * 1024 * 1024;

export interface Page extends PageText {
  /** The address after redirects. */
  readonly url: string;
  readonly status: number;
  readonly type: string;
}

export interface CachedPage {
  readonly page: Page;
  readonly etag: string | null;
  readonly lastModified: string | null;
}

export interface PageCache {
  /** An old page must be requested again, with its own validators. */
  get(key: string): (CachedPage & { readonly isFresh: boolean }) | undefined;
  /** Also stores one that was found unchanged. */
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
