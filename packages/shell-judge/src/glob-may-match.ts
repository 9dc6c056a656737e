/** Whether a shell pattern may match a name; in doubt yes. */
import { matchGlob } from './glob/match-glob.ts';

/** `*` is any sequence, `?` and `[…]` any one character; as in the shell, a leading dot must be written. Linear. */
export function globMayMatch(pattern: string, name: string): boolean {
  const simple = pattern.replaceAll(/\[(?:\\.|[^\]\\])*\]/g, '?');
  if (name.startsWith('.') && !simple.startsWith('.') && !/^[@?*+!]\(/.test(simple)) return false;
  return matchGlob(simple, name);
}
