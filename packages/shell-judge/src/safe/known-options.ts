/** Options that are known to be harmless with a program, from its manual. Every other one of a known program is asked about. */

/** Whether all options among the words are known. */
export type KnownOptions = (words: readonly string[]) => boolean;

/**
 * Of a line such as `abn:# --all --color`, with blanks between its parts. Letters as getopt(3) has them: a colon after a letter
 * that a value may be joined to. `#` is a number, as in `head -5`. Long names count whole, as an abbreviation may mean another one
 * in the next release, and may have `=value`. What follows `--` is no option; a value in a word of its own that looks like one is
 * taken for one.
 */
export function knownOptions(line: string): KnownOptions {
  const parts = line.split(' ');
  const names = new Set(parts.filter((part) => part.startsWith('--')));
  const letters = parts.filter((part) => !part.startsWith('--')).join('');
  const known = new Set(letters.replaceAll(':', '').replace('#', '0123456789'));
  const withValue = new Set(Array.from(letters.matchAll(/(.):/g), ([, letter]) => letter));
  const isKnown = (word: string): boolean => {
    if (!/^-./.test(word)) return true;
    if (word.startsWith('--')) return names.has(word.split('=', 1)[0] ?? '');
    for (const letter of word.slice(1)) {
      if (!known.has(letter)) return false;
      if (withValue.has(letter)) return true;
    }
    return true;
  };
  return (words) => words.slice(0, endOfOptions(words)).every(isKnown);
}

/** Where `--` stands; the number of words when it does not. */
export function endOfOptions(words: readonly string[]): number {
  const at = words.indexOf('--');
  return at < 0 ? words.length : at;
}
