/** Which files of its workspace an agent names in what it writes (DE-2): the words that can be a path, not yet whether they are one. */

/** Looked at in one text. */
const MAX = 50;
const LONGEST = 300;

/** A whole span between backticks, which may hold spaces, or a word between what cannot be of a plain path. */
const WORDS = /`([^`\n]+)`|[^\s"'<>()[\]{}|,;*`]+/g;

/**
 * Relative paths only, without a step upwards, each once, in their order: where a text of a model leads outside, there is
 * no file to be handed on.
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
