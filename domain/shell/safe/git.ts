/** Which git commands look at the repository or change it in ways that git can undo. */
import { isGitInternal } from '../../git-internals.ts';
import { byWord } from '../by-word.ts';
import type { ShellCommand } from '../shell-command.ts';
import { safePrograms, valuesOf } from './safe-program.ts';

/** Options before the subcommand; `-C` has a folder after it. */
const GLOBAL = /^(?:--no-pager|-P|--no-optional-locks|--literal-pathspecs|--version|--help|-C)$/;

/** Options that start programs, read elsewhere or write where they are told, under any subcommand; abbreviations too. */
const REFUSED = (
  'ext-diff textconv output output-directory open-files-in-pager upload-pack receive-pack exec no-index ' +
  'template paginate config config-env edit edit-description git-dir work-tree exec-path filters ' +
  'gpg-sign contents pathspec-from-file exclude-from ignore-revs-file force delete hard orderfile ' +
  'show-signature interactive patch separate-git-dir reference'
).split(' ');

type ArgumentCheck = (args: readonly string[]) => boolean;
const always: ArgumentCheck = () => true;
const without =
  (refused: RegExp): ArgumentCheck =>
  (args) =>
    !args.some((arg) => refused.test(arg));

const isFirst =
  (allowed: RegExp): ArgumentCheck =>
  (args) =>
    allowed.test(args[0] ?? '');

/** Branches by their usual names: any other word may be a file, whose changes would be lost. */
const BRANCH = /^(?:-|main|master|develop|trunk|(?:feature|bugfix|hotfix)\/[\w./-]+)$/;
/** Editors, strategies and keys are programs that the repository may name. */
const HISTORY = without(/^-(?!-)\w*[eixSsXF]|^--(?:str|sig|ra|ro|file)/);

const SUBCOMMANDS = byWord<ArgumentCheck>({
  'status shortlog annotate rev-list merge-base describe name-rev ls-tree for-each-ref show-ref count-objects':
    always,
  'check-ignore check-attr var version': always,
  'log diff show whatchanged': without(/^-O/),
  blame: without(/^-S/),
  'rev-parse': without(/^--(?:parseopt|sq-quote)/),
  'ls-files': without(/^-X/),
  'cat-file': without(/^--(?:batch|textconv)/),
  grep: without(/^-[a-zA-Z\d]*[Of]/),
  branch: without(/^-[a-zA-Z]*[dDmMfC]/),
  tag: without(/^-[a-zA-Z]*[dfFsu]/),
  add: without(/^-[a-zA-Z]*[ipfe]/),
  commit: without(/^-[a-zA-Z]*[FtCceS]$|^--(?:file|fixup|reuse|reedit)/),
  stash: isFirst(/^(?:list|show|push|save|pop|apply)?$/),
  remote: isFirst(/^(?:|-v|show|get-url)$/),
  config: (args) =>
    /^(?:--get|--list|-l|--get-all|get|list)$/.test(args[0] ?? '') ||
    (args.length === 2 && /^user\.(?:name|email)$/.test(args[0] ?? '')),
  switch: without(/^-[a-zA-Z]*[fC]|^--(?:dis|or)/),
  checkout: (args) =>
    (args[0] === '-b' && args.length <= 3) || (args.length === 1 && BRANCH.test(args[0] ?? '')),
  reset: without(/^--(?!soft|mixed|quiet)|^-(?!q$|-)/),
  restore: (args) =>
    /^(?:--staged|-S)$/.test(args[0] ?? '') && !args.slice(1).some((arg) => arg.startsWith('-')),
  rm: (args) => args.includes('--cached') && !args.some((arg) => /^-(?!-)\w*f/.test(arg)),
  mv: without(/^-(?!-)\w*f/),
  'merge rebase cherry-pick revert': HISTORY,
  worktree: isFirst(/^list$/),
  submodule: isFirst(/^(?:status)?$/),
  notes: isFirst(/^(?:list|show)?$/),
  bisect: isFirst(/^(?:start|good|bad|new|old|skip|reset|log)$/),
  apply: without(/^--(?:u|b|dir|inc)/),
  'format-patch': without(/^-o/),
  archive: without(/^--(?:rem|add)/),
  clean: (args) => args.some((arg) => /^(?:-\w*n\w*|--dry-run)$/.test(arg)),
  fsck: without(/^--(?:lost)/),
  help: without(/^-/),
  init: (args) => args.length === 0,
  reflog: isFirst(/^(?:show|HEAD\S*|-.*)?$/),
});

export const GIT = safePrograms({ git: { when: isHarmlessGit } });

function isHarmlessGit(command: ShellCommand): boolean {
  const words = valuesOf(command);
  const at = words.findIndex((word, index) => !GLOBAL.test(word) && words[index - 1] !== '-C');
  if (at < 0) return words.length > 0;
  const [subcommand = '', ...args] = words.slice(at);
  const own = args.includes('--') ? args.slice(0, args.indexOf('--')) : args;
  const check = SUBCOMMANDS.get(subcommand);
  return check !== undefined && check(own) && !own.some(isRefused) && !words.some(isGitInternal);
}

function isRefused(arg: string): boolean {
  if (!arg.startsWith('--')) return false;
  const name = arg.slice(2).split('=', 1)[0] ?? '';
  return name.length > 0 && REFUSED.some((refused) => refused.startsWith(name));
}
