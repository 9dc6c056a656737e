/**
 * Finds names of workspace files in what an agent writes (DE-2): words that can be paths, whether or not the files
 * exist.
 */

/** Greatest number of names taken from one text. */
const MAX = 50;
const LONGEST = 300;

/**
 * A span between backticks, which may contain spaces, or a word between characters that a plain path does not contain.
 */
const WORDS = /`([^`\n]+)`|[^\s"'<>()[\]{}|,;*`]+/g;

/**
 * Relative paths without an upward step, each once, in order. A model's text that points outside the workspace names no
 * file to pass on.
 */
export function namedFiles(text: string): readonly string[] {
  const named = new Set<string>();
  for (const [word, quoted] of text.matchAll(WORDS)) {
    const path = (quoted ?? word)
      .trim()
      .replace(/^(\.\/+)+/, '')
      .replace(/[.:!?]+$/, '');
    if (canBeFile(path)) named.add(path);
    if (named.size === MAX) break;
  }
  return [...named];
}

function canBeFile(path: string): boolean {
  if (path.length > LONGEST || /^[/~-]|:\/\/|\0/.test(path)) return false;
  if (path.split('/').some((part) => part === '' || part === '..')) return false;
  return path.includes('/') || /\.[A-Za-z0-9]{1,10}$/.test(path);
}
