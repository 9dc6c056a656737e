/**
 * Options that are known to be harmless with a program, from its manual. People are asked about every other option of a
 * known program.
 */

/** Whether all options among the words are known. */
export type KnownOptions = (words: readonly string[]) => boolean;

/**
 * Parses a line such as `abn:# --all --color`, with blanks between its parts. Letters are in the notation of getopt(3):
 * a colon follows a letter whose value may be joined to it. `#` is a number, as in `head -5`. Long names must be whole,
 * because an abbreviation may mean another one in the next release, and may have `=value`. Words after `--` are no
 * options. A separate value that looks like an option counts as one.
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

/** Position of `--`; the number of words when there is none. */
export function endOfOptions(words: readonly string[]): number {
  const at = words.indexOf('--');
  return at < 0 ? words.length : at;
}
