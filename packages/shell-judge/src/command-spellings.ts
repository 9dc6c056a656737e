/** The ways in which a rule may write a command: by its program’s name and subcommand, whatever folder and options stand before them. */

/** Of git's options before its subcommand, those whose value is the next word (git(1)). Of other programs any option may be one. */
const GIT_VALUE =
  /^(?:-C|-c|--(?:git-dir|work-tree|namespace|super-prefix|attr-source|config-env|list-cmds))$/;

/**
 * `/usr/bin/git -C x push` is also `git push`. As written comes first; in doubt there are more, so that they are for rules that ask or
 * deny, and not for one that allows.
 */
export function commandSpellings([name = '', ...rest]: readonly string[]): readonly string[] {
  const [program, ...more] = called(name);
  const args = [...more, ...rest];
  const tails = subcommandsOf(program, args).map((at) => [program, ...args.slice(at)].join(' '));
  return [...new Set([[name, ...rest].join(' '), [program, ...args].join(' '), ...tails])];
}

/** Without its folder; `git-push`, one of git's own programs, is `git push`. */
function called(name: string): readonly [string, ...string[]] {
  const program = name.slice(name.lastIndexOf('/') + 1).toLowerCase();
  const own = /^git-(.+)$/.exec(program)?.[1];
  return own === undefined ? [program] : ['git', own];
}

/** Places of a subcommand that are looked at, beside the last one, which is surely no option's value. */
const MAX_PLACES = 64;

/** Where the subcommand may stand: after options, each of which may have a value. */
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
