/**
 * How many letters were omitted, added, changed or exchanged with their neighbour between two words (optimal string
 * alignment).
 */
export function editDistance(one: string, other: string): number {
  let [older, old] = [[] as number[], Array.from({ length: other.length + 1 }, (_, at) => at)];
  for (let row = 1; row <= one.length; row += 1) {
    const next = [row];
    for (let column = 1; column <= other.length; column += 1) {
      const isSame = one[row - 1] === other[column - 1];
      const exchanged =
        row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      next[column] = Math.min(
        (old[column] ?? 0) + 1,
        (next[column - 1] ?? 0) + 1,
        (old[column - 1] ?? 0) + (isSame ? 0 : 1),
        exchanged ? (older[column - 2] ?? 0) + 1 : Infinity,
      );
    }
    [older, old] = [old, next];
  }
  return old[other.length] ?? 0;
}

/** The word with each of its letters omitted, each result once. */
export function deletions(word: string): readonly string[] {
  return [...new Set(Array.from({ length: word.length }, (_, at) => word.slice(0, at) + word.slice(at + 1)))];
}
