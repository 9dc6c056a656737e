/** Whether a shell pattern may stand for a name; in doubt yes. */
import { matchGlob } from './glob/match-glob.ts';

/** `*` any run, `?` and `[…]` any one character; a leading dot must be written, as in the shell. Linear. */
export function globMayMatch(pattern: string, name: string): boolean {
  const simple = pattern.replaceAll(/\[(?:\\.|[^\]\\])*\]/g, '?');
  if (name.startsWith('.') && !simple.startsWith('.') && !/^[@?*+!]\(/.test(simple)) return false;
  return matchGlob(simple, name);
}
