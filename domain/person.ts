/** Users as people: one person may be written in several ways. */

/**
 * Maps all spellings of a name to one person: nobody counts twice, and whoever is excluded or denied is so under every
 * spelling.
 */
export function personOf(user: string): string {
  return user
    .normalize('NFKC')
    .replace(/\p{Cf}/gu, '')
    .replace(/\s+/gu, ' ')
    .trim()
    .toLowerCase();
}
