/** Which git commands only read the repository or change it in ways that git can undo. */
import { isGitInternal } from '../git-internals.ts';
import { byWord } from '../by-word.ts';
import type { ShellCommand } from '../shell-command.ts';
import { knownOptions } from './known-options.ts';
import { safePrograms, valuesOf } from './safe-program.ts';

/** Options before the subcommand; `-C` is followed by a folder. */
const GLOBAL = /^(?:--no-pager|-P|--no-optional-locks|--literal-pathspecs|--version|--help|-C)$/;

/** Without filters or textconv of the repository's configuration, output elsewhere, or an order from a file. */
const DIFF =
  'puswbBRaWzU:G:S:M:C:D:l:X: --abbrev --anchored --base --binary --cached --cc --check --color --color-moved --color-words ' +
  '--combined-all-paths --compact-summary --diff-algorithm --diff-filter --dirstat --dst-prefix --exit-code --find-copies ' +
  '--find-copies-harder --find-renames --full-index --function-context --histogram --ignore-all-space --ignore-blank-lines ' +
  '--ignore-cr-at-eol --ignore-matching-lines --ignore-space-at-eol --ignore-space-change --ignore-submodules --indent-heuristic ' +
  '--inter-hunk-context --irreversible-delete --line-prefix --merge-base --minimal --name-only --name-status --no-color ' +
  '--no-ext-diff --no-patch --no-prefix --no-relative --no-renames --no-textconv --numstat --ours --patch-with-stat --patience ' +
  '--pickaxe-all --pickaxe-regex --quiet --raw --relative --shortstat --src-prefix --staged --stat --submodule --summary --text ' +
  '--theirs --unified --word-diff --word-diff-regex';
/** Without checks of signatures, because the configuration names the program for them. */
const LOG =
  `${DIFF} #n:L:giEFPcmtr --after --all --all-match --ancestry-path --author --author-date-order --before --boundary --branches --cherry ` +
  '--cherry-mark --cherry-pick --children --clear-decorations --committer --date --date-order --decorate --decorate-refs --dense ' +
  '--diff-merges --exclude --extended-regexp --first-parent --fixed-strings --follow --format --full-diff --full-history --glob ' +
  '--graph --grep --invert-grep --left-only --left-right --log-size --mailmap --max-count --max-parents --merges --min-parents ' +
  '--no-abbrev-commit --abbrev-commit --no-decorate --no-merges --no-notes --no-walk --not --notes --oneline --parents ' +
  '--perl-regexp --pretty --reflog --regexp-ignore-case --relative-date --remotes --reverse --right-only --show-notes --show-pulls ' +
  '--simplify-by-decoration --simplify-merges --since --skip --source --sparse --tags --topo-order --until --use-mailmap ' +
  '--walk-reflogs';
const REFS = '--contains --format --ignore-case --merged --no-contains --no-merged --points-at --sort';
const BLAME =
  'bcCeflLMnpstwL:M:C: --abbrev --color-lines --date --first-parent --ignore-rev --incremental --line-porcelain --no-progress ' +
  '--porcelain --progress --reverse --root --show-email --show-name --show-number --show-stats --since';
/** Editors, strategies and keys are programs that the repository may name. */
const HISTORY =
  'nm:qv --abort --allow-empty --allow-unrelated-histories --autostash --commit --continue --ff --ff-only --keep-base --log ' +
  '--mainline --message --no-autostash --no-commit --no-edit --no-ff --no-squash --no-stat --no-verify --onto --quiet --quit --root ' +
  '--signoff --skip --squash --stat --update-refs --verbose';

/** Usual branch names: any other word may be a file, whose changes would be lost. */
const BRANCH = /^(?:-|main|master|develop|trunk|(?:feature|bugfix|hotfix)\/[\w./-]+)$/;

type ArgumentCheck = (args: readonly string[]) => boolean;

const isFirst =
  (allowed: RegExp): ArgumentCheck =>
  (args) =>
    allowed.test(args[0] ?? '');
const has =
  (exp: RegExp): ArgumentCheck =>
  (args) =>
    args.some((arg) => exp.test(arg));

interface Subcommand {
  /** Options with which it stays harmless; none when absent. */
  readonly options?: string;
  readonly when?: ArgumentCheck;
}

const SUBCOMMANDS = byWord<Subcommand>({
  status: {
    options:
      'sbzvu:M: --ahead-behind --branch --column --find-renames --ignore-submodules --ignored --long --no-ahead-behind --no-column ' +
      '--no-renames --null --porcelain --renames --short --show-stash --untracked-files --verbose',
  },
  'log show whatchanged': { options: LOG },
  diff: { options: `${DIFF} #` },
  'rev-list': { options: `${LOG} --count --disk-usage --header --objects --timestamp` },
  shortlog: { options: `${LOG} new: --email --group --numbered` },
  reflog: { options: LOG, when: isFirst(/^(?:show|HEAD\S*|-.*)?$/) },
  'merge-base': { options: 'a --all --fork-point --independent --is-ancestor --octopus' },
  describe: {
    options:
      '--abbrev --all --always --broken --candidates --contains --dirty --exact-match --exclude --first-parent --long --match --tags',
  },
  'name-rev': { options: '--all --always --exclude --name-only --no-undefined --refs --tags' },
  'ls-tree': {
    options: 'drtlz --abbrev --format --full-name --full-tree --long --name-only --name-status --object-only',
  },
  'for-each-ref': { options: `${REFS} --count --exclude --omit-empty` },
  'show-ref': {
    options: 'dqs --abbrev --branches --dereference --exists --hash --head --heads --quiet --tags --verify',
  },
  'count-objects': { options: 'vH --human-readable --verbose' },
  'check-ignore': { options: 'qvnz --non-matching --quiet --stdin --verbose' },
  'check-attr': { options: 'az --all --cached --stdin' },
  var: { options: 'l' },
  cherry: { options: 'v --abbrev' },
  version: { options: '--build-options' },
  'blame annotate': { options: BLAME },
  'rev-parse': {
    options:
      'q --abbrev-ref --absolute-git-dir --all --branches --default --end-of-options --flags --git-common-dir --git-dir --git-path --glob ' +
      '--is-bare-repository --is-inside-git-dir --is-inside-work-tree --is-shallow-repository --no-flags --no-revs --not --quiet ' +
      '--remotes --revs-only --short --show-cdup --show-object-format --show-prefix --show-superproject-working-tree --show-toplevel ' +
      '--since --symbolic --symbolic-full-name --tags --until --verify',
  },
  'ls-files': {
    options:
      'cdmosukiztvfx: --abbrev --cached --deduplicate --deleted --directory --eol --error-unmatch --exclude --exclude-standard --format ' +
      '--full-name --ignored --killed --modified --no-empty-directory --others --recurse-submodules --stage --unmerged --with-tree',
  },
  'cat-file': { options: 'tsep' },
  grep: {
    options:
      '#acEFGhHiIlLnopPqrvwWz0A:B:C:e:m: --after-context --all-match --and --before-context --break --cached --color --column --context ' +
      '--count --exclude-standard --extended-regexp --files-with-matches --files-without-match --fixed-strings --full-name ' +
      '--function-context --heading --ignore-case --invert-match --line-number --max-count --max-depth --name-only --no-color --not ' +
      '--only-matching --or --perl-regexp --quiet --recurse-submodules --show-function --text --untracked --word-regexp',
  },
  branch: {
    options:
      `${REFS} avrqltiu: --abbrev --all --color --column --list --no-abbrev --no-color --no-column --no-track --quiet --remotes ` +
      '--set-upstream-to --show-current --track --unset-upstream --verbose',
  },
  tag: { options: `${REFS} lain:m: --annotate --color --column --create-reflog --list --message --no-sign` },
  add: {
    options:
      'AunvN --all --chmod --dry-run --ignore-errors --ignore-removal --intent-to-add --no-all --refresh --renormalize --update --verbose',
  },
  commit: {
    options:
      'am:nqvoisu:z --all --allow-empty --allow-empty-message --amend --author --branch --cleanup --date --dry-run --include --message ' +
      '--no-edit --no-gpg-sign --no-status --no-verify --only --porcelain --quiet --reset-author --short --signoff --status ' +
      '--untracked-files --verbose',
  },
  stash: {
    options: `${DIFF} m:uakq --all --include-untracked --index --keep-index --message --no-keep-index`,
    when: (args) =>
      isFirst(/^(?:list|show|push|save|pop|apply)?$/)(args) &&
      (args[0] === 'show' || !has(/^-\w*[pS]/)(args)),
  },
  remote: {
    when: (args) => args.length === 0 || /^(?:-v|show(?: .*)?|get-url .*)$/.test(args.join(' ')),
    options: 'vn',
  },
  config: {
    options:
      'lz --bool --get --get-all --includes --int --list --local --name-only --null --show-origin --show-scope --type',
    when: (args) =>
      /^(?:--get|--list|-l|--get-all|get|list)$/.test(args[0] ?? '') ||
      (args.length === 2 && /^user\.(?:name|email)$/.test(args[0] ?? '')) ||
      (args.length === 1 &&
        /^(?:user\.(?:name|email)|remote\.[\w-]+\.url|init\.defaultbranch)$/i.test(args[0] ?? '')),
  },
  switch: { options: 'c:tqd --create --detach --guess --no-guess --no-track --quiet --track' },
  checkout: {
    options: 'btq --no-track --quiet --track',
    when: (args) =>
      (args[0] === '-b' && args.length <= 3) || (args.length === 1 && BRANCH.test(args[0] ?? '')),
  },
  reset: { options: 'q --mixed --quiet --soft' },
  restore: { options: 'Sq --quiet --staged', when: isFirst(/^(?:--staged|-S)$/) },
  rm: { options: 'rnq --cached --dry-run --quiet', when: has(/^--cached$/) },
  mv: { options: 'knv --dry-run --verbose' },
  'merge rebase cherry-pick revert': { options: HISTORY },
  worktree: { options: 'vz --porcelain --verbose', when: isFirst(/^list$/) },
  submodule: { options: '--cached --recursive --quiet', when: isFirst(/^(?:status)?$/) },
  notes: { when: isFirst(/^(?:list|show)?$/) },
  bisect: { when: isFirst(/^(?:start|good|bad|new|old|skip|reset|log)$/) },
  // A patch may create links to any place, so only showing its effect is permitted.
  apply: {
    options: 'Rvp:C: --check --numstat --reverse --stat --summary --verbose',
    when: has(/^--(?:check|numstat|stat|summary)$/),
  },
  'format-patch': {
    options: `${DIFF} nkNsv:# --cover-letter --no-numbered --no-signature --no-stat --numbered --root --signoff --stdout --subject-prefix --zero-commit`,
  },
  // Its file is a path like any other; joined to the letter it would not be recognized.
  archive: { options: 'vlo --format --list --prefix --verbose --worktree-attributes' },
  clean: { options: 'ndxXqe: --dry-run --exclude --quiet', when: has(/^(?:-\w*n\w*|--dry-run)$/) },
  fsck: {
    options:
      'v --cache --connectivity-only --dangling --full --name-objects --no-dangling --no-progress --no-reflogs --progress --root --strict --tags --unreachable --verbose',
  },
  help: {},
  init: { when: (args) => args.length === 0 },
});

/** A format with a signature, which a configured program checks. */
const SHOWS_SIGNATURE = /%G|%\([^)]*signature/;

export const GIT = safePrograms({ git: { when: isHarmlessGit } });

function isHarmlessGit(command: ShellCommand): boolean {
  const words = valuesOf(command);
  const at = words.findIndex((word, index) => !GLOBAL.test(word) && words[index - 1] !== '-C');
  if (at < 0) return words.length > 0;
  const [subcommand = '', ...args] = words.slice(at);
  const row = SUBCOMMANDS.get(subcommand);
  const own = args.includes('--') ? args.slice(0, args.indexOf('--')) : args;
  return (
    row !== undefined &&
    knownOptions(row.options ?? '')(own) &&
    (row.when?.(own) ?? true) &&
    !own.some((arg) => SHOWS_SIGNATURE.test(arg)) &&
    !words.some(isGitInternal)
  );
}
