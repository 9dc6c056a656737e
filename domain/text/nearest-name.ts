/** Finds known names that a mistyped one may mean. */

/**
 * Returns at most two, best first: names that contain the other, or within an edit distance of a third of its length.
 */
export function nearest(name: string, known: readonly string[]): readonly string[] {
  const low = name.slice(0, 64).toLowerCase();
  return known
    .map((candidate) => ({ candidate, far: distance(low, candidate.toLowerCase()) }))
    .filter(({ candidate, far }) => far <= Math.max(2, Math.floor(candidate.length / 3)))
    .sort((a, b) => a.far - b.far)
    .slice(0, 2)
    .map(({ candidate }) => candidate);
}

/** Levenshtein distance; a name that contains the other has distance 1. */
function distance(a: string, b: string): number {
  if (a.length > 3 && b.length > 3 && (a.includes(b) || b.includes(a))) return 1;
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next[j] = Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1);
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
