/** The forms in which a rule may name a command: by its program’s name and subcommand, without folder and options. */

/**
 * Git's options before its subcommand whose value is the next word (git(1)). For other programs any option may have
 * one.
 */
const GIT_VALUE =
  /^(?:-C|-c|--(?:git-dir|work-tree|namespace|super-prefix|attr-source|config-env|list-cmds))$/;

/**
 * `/usr/bin/git -C x push` is also `git push`. The written form comes first. In doubt there are more forms, so they are
 * for rules that ask or deny, not for rules that allow.
 */
export function commandSpellings([name = '', ...rest]: readonly string[]): readonly string[] {
  const [program, ...more] = called(name);
  const args = [...more, ...rest];
  const tails = subcommandsOf(program, args).map((at) => [program, ...args.slice(at)].join(' '));
  return [...new Set([[name, ...rest].join(' '), [program, ...args].join(' '), ...tails])];
}

/** The name without its folder; `git-push`, one of git's own programs, is `git push`. */
function called(name: string): readonly [string, ...string[]] {
  const program = name.slice(name.lastIndexOf('/') + 1).toLowerCase();
  const own = /^git-(.+)$/.exec(program)?.[1];
  return own === undefined ? [program] : ['git', own];
}

/** Number of positions that are checked for a subcommand, besides the last one, which cannot be an option's value. */
const MAX_PLACES = 64;

/** Possible positions of the subcommand: after options, each of which may have a value. */
function subcommandsOf(program: string, args: readonly string[]): readonly number[] {
  const reached = new Set([0]);
  const found: number[] = [];
  for (const at of reached) {
    const arg = args[at];
    if (arg === undefined) continue;
    if (!arg.startsWith('-')) {
      found.push(at);
      continue;
    }
    const takesNext = program === 'git' ? GIT_VALUE.test(arg) : !arg.includes('=');
    if (program !== 'git' || !takesNext) reached.add(at + 1);
    if (takesNext && !args[at + 1]?.startsWith('-')) reached.add(at + 2);
  }
  return found.length > MAX_PLACES ? [...found.slice(0, MAX_PLACES), ...found.slice(-1)] : found;
}
