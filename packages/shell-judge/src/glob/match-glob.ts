/** Globs without recursion or backtracking, so that a pattern of a model or a rule cannot block a process. */

/** `*` is any sequence of characters, `?` one; case-sensitive. At most (text × longest run between stars) steps. */
export function matchGlob(glob: string, text: string): boolean {
  // An emoji is one character, and two units of a string.
  const hasPairs = SURROGATE.test(text);
  return matchSequence(
    hasPairs ? [...glob] : glob,
    hasPairs ? [...text] : text,
    (part) => part === '*',
    (part, character) => part === '?' || part === character,
  );
}

const SURROGATE = /[\ud800-\udfff]/;

interface Sequence<Item> {
  readonly length: number;
  readonly [index: number]: Item;
}

/** The usual two pointers: at a mismatch the last wildcard consumes one more item. */
export function matchSequence<P, T>(
  pattern: Sequence<P>,
  items: Sequence<T>,
  isWild: (part: P) => boolean,
  fits: (part: P, item: T) => boolean,
): boolean {
  let p = 0;
  let i = 0;
  let wild = -1;
  let taken = 0;
  while (i < items.length) {
    const part = pattern[p];
    if (part !== undefined && isWild(part)) {
      wild = p;
      taken = i;
      p += 1;
    } else if (part !== undefined && fits(part, items[i] as T)) {
      p += 1;
      i += 1;
    } else if (wild >= 0) {
      taken += 1;
      i = taken;
      p = wild + 1;
    } else return false;
  }
  while (p < pattern.length && isWild(pattern[p] as P)) p += 1;
  return p === pattern.length;
}
