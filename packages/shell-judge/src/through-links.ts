/** Commands with the links in their paths followed: a path is judged by where it leads. */
import { enterFolders, joined } from './run-files.ts';
import { textWordsOf } from './path-words.ts';
import { literalWord, type ShellCommand, type ShellWord } from './shell-command.ts';

/**
 * Where a path leads, from the start folder of the command line: a place for each link that it may pass, none when it
 * passes none. Inside the workspace a place is relative to it, elsewhere absolute. The path may be a pattern.
 */
export type FollowLinks = (path: string) => readonly string[];

/** Words and redirections of all commands that links lead to: each place makes one, so a link named a thousand times would make a million. */
const MAX_LED_WORDS = 20_000;

/** `isWhole` is false when there are more. */
export interface LedCommands {
  readonly commands: readonly ShellCommand[];
  readonly isWhole: boolean;
}

/** Each command again for each place to which one of its words or redirections leads. */
export function throughLinks(commands: readonly ShellCommand[], follow: FollowLinks): LedCommands {
  const found: ShellCommand[] = [];
  const folders = [''];
  let words = 0;
  for (const command of commands) {
    enterFolders(folders, command);
    for (const led of ledFrom(command, folders, follow)) {
      words += led.words.length + led.redirects.length;
      if (words > MAX_LED_WORDS) return { commands: found, isWhole: false };
      found.push(led);
    }
  }
  return { commands: found, isWhole: true };
}

function* ledFrom(
  command: ShellCommand,
  folders: readonly string[],
  follow: FollowLinks,
): Generator<ShellCommand> {
  const texts = textWordsOf(command);
  const led = (word: ShellWord): readonly ShellWord[] =>
    texts.has(word) ? [] : placesOf(word, folders, follow);
  for (const [at, word] of command.words.entries())
    if (at > 0) for (const place of led(word)) yield { ...command, words: command.words.with(at, place) };
  for (const [at, redirect] of command.redirects.entries())
    for (const target of redirect.target === null ? [] : led(redirect.target))
      yield { ...command, redirects: command.redirects.with(at, { ...redirect, target }) };
}

/** Matches the part before the path: `--file=x` and `-Cx` as well as `x`. */
const BEFORE_PATH = /^(?:--?[\w-]+=|\w+=|-[a-zA-Z](?=.))?/;

function placesOf(word: ShellWord, folders: readonly string[], follow: FollowLinks): readonly ShellWord[] {
  const values = word.isLiteral ? [word.value] : (word.choices ?? []);
  return values.flatMap((value) => {
    const before = BEFORE_PATH.exec(value)?.[0] ?? '';
    const paths = [...new Set([value, value.slice(before.length)])].filter((path) => /^[^-]/.test(path));
    return paths.flatMap((path) =>
      folders
        .flatMap((folder) => follow(joined(folder, path)))
        .map((place) => literalWord(value.slice(0, value.length - path.length) + place)),
    );
  });
}
