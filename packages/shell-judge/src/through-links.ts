/** Commands with the links in their paths followed: a path is judged by where it leads. */
import { enterFolders, joined } from './run-files.ts';
import { textWordsOf } from './path-words.ts';
import { literalWord, type ShellCommand, type ShellWord } from './shell-command.ts';

/**
 * Where a path leads, from the start folder of the command line: a place for each link that it may pass, none when it
 * passes none. Inside the workspace a place is relative to it, elsewhere absolute. The path may be a pattern.
 */
export type FollowLinks = (path: string) => readonly string[];

/** Each command again for each place to which one of its words or redirections leads. */
export function throughLinks(
  commands: readonly ShellCommand[],
  follow: FollowLinks,
): readonly ShellCommand[] {
  const folders = [''];
  return commands.flatMap((command) => {
    enterFolders(folders, command);
    const texts = textWordsOf(command);
    const led = (word: ShellWord): readonly ShellWord[] =>
      texts.has(word) ? [] : placesOf(word, folders, follow);
    return [
      ...command.words.flatMap((word, at) =>
        at === 0 ? [] : led(word).map((place) => ({ ...command, words: command.words.with(at, place) })),
      ),
      ...command.redirects.flatMap((redirect, at) =>
        redirect.target === null
          ? []
          : led(redirect.target).map((target) => ({
              ...command,
              redirects: command.redirects.with(at, { ...redirect, target }),
            })),
      ),
    ];
  });
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
