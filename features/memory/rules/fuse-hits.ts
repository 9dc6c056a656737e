/**
 * Merges the results of several searches into one list, by their places in each: reciprocal rank fusion (Cormack et
 * al., 2009).
 */

export interface FoundBy<Item> {
  /** How one was found, for readers of the result: `words: tap, kitchen`. */
  readonly item: Item;
  readonly why: string;
}

export interface Fused<Item> {
  readonly item: Item;
  /** The score 1 means first in every list. */
  readonly score: number;
  readonly why: string;
}

/**
 * How little a first place counts above a later one. The usual 60 is for lists of thousands. With a small embedding
 * model, this value found the most of the questions that the ranking is tuned on (docs/memory.md).
 */
const SMOOTH = 3;

/**
 * Returns the best first. Each list has its best first; `keyOf` says which are the same. Lists in which nothing can be
 * found are omitted.
 */
export function fuseHits<Item>(
  lists: readonly (readonly FoundBy<Item>[])[],
  keyOf: (item: Item) => string,
): readonly Fused<Item>[] {
  const found = new Map<string, { item: Item; sum: number; whys: string[] }>();
  for (const list of lists)
    for (const [place, { item, why }] of list.entries()) {
      const entry = found.get(keyOf(item)) ?? { item, sum: 0, whys: [] };
      entry.sum += (SMOOTH + 1) / (SMOOTH + 1 + place);
      entry.whys.push(why);
      found.set(keyOf(item), entry);
    }
  return [...found.values()]
    .map(({ item, sum, whys }) => ({ item, score: sum / Math.max(1, lists.length), why: whys.join('; ') }))
    .toSorted((one, other) => other.score - one.score);
}
