/** Quotes one word of a command line so that the shell interprets none of it. */
export function quoteWord(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
