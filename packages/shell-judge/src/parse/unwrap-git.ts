/**
 * Commands in git's own words that it starts: aliases of `-c`, and the commands of bisect, submodule, rebase and
 * difftool.
 */
import { wordsAfter } from './options-of.ts';
import type { ShellWord } from '../shell-command.ts';

/** Texts that a shell reads. */
export function gitScripts(args: readonly ShellWord[]): readonly ShellWord[] {
  return [...aliases(args), ...startedBy(args)];
}

/** `-c alias.x='!cmd'` runs cmd; any other text is a subcommand of git. */
function aliases(args: readonly ShellWord[]): readonly ShellWord[] {
  return wordsAfter(args, ['-c']).flatMap((word) => {
    const text = /^alias\.[^=]*=(.*)$/is.exec(word.value)?.[1];
    if (text === undefined) return [];
    return [{ ...word, value: text.startsWith('!') ? text.slice(1) : `git ${text}` }];
  });
}

function startedBy(args: readonly ShellWord[]): readonly ShellWord[] {
  const at = args.findIndex((word) => /^(?:bisect|submodule|rebase|difftool)$/.test(word.value));
  const [subcommand, ...own] = at < 0 ? [] : args.slice(at);
  switch (subcommand?.value) {
    case 'rebase':
    case 'difftool':
      return wordsAfter(own, ['-x', '-ix', '--exec', '--extcmd']);
    case 'bisect':
    case 'submodule': {
      const start = own.findIndex((word) => /^(?:run|foreach)$/.test(word.value));
      const words = start < 0 ? [] : own.slice(start + 1);
      const [first, ...more] = words.slice(words.findIndex((word) => !word.value.startsWith('-')));
      return first ? [joinedWord([first, ...more])] : [];
    }
    default:
      return [];
  }
}

function joinedWord(words: readonly [ShellWord, ...ShellWord[]]): ShellWord {
  const isLiteral = words.every((word) => word.isLiteral);
  return { ...words[0], value: words.map((word) => word.value).join(' '), isLiteral };
}
