/** Whether a word can only name something inside the workspace. */
import { globMayMatch } from '../glob-may-match.ts';
import type { ShellWord } from '../shell-command.ts';

const NO_FILE = /^\/dev\/(?:null|stdin|stdout|stderr|zero|fd\/\d)$/;

/** Every value that the word can have is a path below the current folder. */
export function isInside(word: ShellWord): boolean {
  if (!word.isLiteral) return hasKnownChoices(word);
  return !word.text.startsWith('~') && isInsidePath(word.value) && (!word.isGlob || staysInside(word.value));
}

/** Its values come from the script itself, none leads outside, and none looks like an option. */
export function hasKnownChoices(word: ShellWord): boolean {
  return (
    word.choices !== null &&
    word.choices.every((choice) => !/^[-~]|[$`]/.test(choice) && isInsidePath(choice) && staysInside(choice))
  );
}

/** Relative and never upwards; `host:path` and `C:\\path` are elsewhere. */
export function isInsidePath(path: string): boolean {
  if (NO_FILE.test(path)) return true;
  return !/^[~/\\]|^[a-zA-Z]:[\\/]|:\/\//.test(path) && !path.split(/[/\\:]/).includes('..');
}

/** No part of a pattern may match `..`; extended patterns are not followed. */
function staysInside(pattern: string): boolean {
  if (!/[*?[]/.test(pattern) && !/[@+!]\(/.test(pattern)) return true;
  if (/[@?*+!]\(/.test(pattern)) return false;
  return !pattern.split('/').some((part) => /[*?[]/.test(part) && globMayMatch(part, '..'));
}
