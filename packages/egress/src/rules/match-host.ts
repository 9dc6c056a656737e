/**
 * Whether a host matches a pattern: `*` is any sequence of characters, `?` one character. There is no recursion, and
 * backtracking only to the last star.
 */
export function matchHost(pattern: string, host: string): boolean {
  let p = 0;
  let h = 0;
  let star = -1;
  let taken = 0;
  while (h < host.length) {
    const part = pattern[p];
    if (part === '*') {
      star = p;
      taken = h;
      p += 1;
    } else if (part !== undefined && (part === '?' || part === host[h])) {
      p += 1;
      h += 1;
    } else if (star >= 0) {
      // At a mismatch the last star consumes one more character.
      taken += 1;
      h = taken;
      p = star + 1;
    } else return false;
  }
  return /^\**$/.test(pattern.slice(p));
}
