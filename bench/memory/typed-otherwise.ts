/** Types memories the way people do: identifiers with other separators and letter case, and words with typos. */

type Random = (below: number) => number;

/**
 * Writes `INC-2291` as `inc2291`, `INC 2291` or `inc_2291`, and `maxRetryCount` as `max_retry_count`, `max retry count`
 * or `MAXRETRYCOUNT`.
 */
export function writeAnew(identifier: string, random: Random): string {
  const parts = identifier
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .split(/[^A-Za-z\d]+/)
    .map((part) => part.toLowerCase());
  const camel = parts.map((part, at) => (at === 0 ? part : part[0]?.toUpperCase() + part.slice(1))).join('');
  const ways = [
    parts.join(''),
    parts.join(' '),
    parts.join('_'),
    parts.join('-').toUpperCase(),
    camel,
    parts.join('.'),
  ];
  const others = ways.filter((way) => way !== identifier);
  return others[random(others.length)] ?? identifier;
}

/** Misspells one or two of the longer words: letters swapped, omitted, doubled or replaced. */
export function slip(text: string, random: Random): string {
  const words = text.split(' ');
  const long = words.flatMap((word, at) => (/^[A-Za-z]{6,}/.test(word) ? [at] : []));
  for (let count = 0; count < Math.min(2, long.length); count += 1) {
    const place = long[random(long.length)] ?? 0;
    const word = words[place] ?? '';
    const at = 1 + random(word.length - 3);
    const [before, one = '', other = '', after] = [
      word.slice(0, at),
      word[at],
      word[at + 1],
      word.slice(at + 2),
    ];
    words[place] =
      before +
      [other + one, other, one + one + other, `${one}${other === 'e' ? 'a' : 'e'}`][random(4)] +
      after;
  }
  return words.join(' ');
}
