/** One word of a shell's command line, of which the shell reads nothing. */
export function quoteWord(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
