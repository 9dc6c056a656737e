/** The form of rows in the category tables, and how a row is matched. */
import { byWord } from '../by-word.ts';
import { codeWordsOf } from '../code-of.ts';
import { hasOption, optionsOf } from '../parse/options-of.ts';
import { pathWordsOf, textWordsOf, writtenPathsOf } from '../path-words.ts';
import { exportsHarmlessValue, hasHarmlessValue } from '../safe/harmless-variables.ts';
import { isHarmlessScript } from '../safe/script-programs.ts';
import { argumentsOf, programOf, type ShellCommand, type ShellWord } from '../shell-command.ts';
import { habitOf } from '../text-arguments.ts';

/** The conditions of a row. Lists of words are separated by blanks. */
export interface Matching {
  /** Name of the row in verdicts and in `categoriesOff`; the category's name when absent. */
  readonly rule?: string;
  /** Authors of command templates may use it. */
  readonly isForAuthors?: true;
  /** All of the following conditions must hold; absent ones are not checked. */
  readonly programs?: string | RegExp;
  /** The first operand, or the first two with a space. */
  readonly subcommand?: RegExp;
  readonly letters?: string;
  readonly names?: string;
  /** The value of any argument; in a row without programs only of arguments that act. */
  readonly argument?: RegExp;
  /** Any word that an interpreter may run as code. */
  readonly code?: RegExp;
  /** All arguments, joined by spaces. */
  readonly line?: RegExp;
  /** Any path that is read or written; text such as a pattern does not count. */
  readonly path?: RegExp;
  /** Any path that is written to, including redirections. */
  readonly written?: RegExp;
  /** A variable that is set for the command or exported. */
  readonly variable?: RegExp;
  readonly when?: (command: ShellCommand) => boolean;
}

/** A row as it is written. The reason completes “… is denied” for a reader; `confirm`: a person may permit it once. */
export type CommandRule = Matching &
  (
    | { readonly deny: string; readonly confirm?: undefined }
    | { readonly deny?: undefined; readonly confirm: string }
  );

/** A row in the form for matching. */
interface CategoryRule extends Omit<Matching, 'programs' | 'names'> {
  readonly severity: 'deny' | 'confirm';
  readonly rule: string;
  readonly reason: string;
  readonly programs?: ReadonlySet<string> | RegExp | undefined;
  readonly names?: readonly string[] | undefined;
}

export interface Category {
  readonly category: string;
  readonly rules: readonly CategoryRule[];
}

export function categoryOf(category: string, rows: readonly CommandRule[]): Category {
  return {
    category,
    rules: rows.map(({ deny, confirm, programs, names, ...row }) => ({
      rule: category,
      severity: deny === undefined ? 'confirm' : 'deny',
      reason: deny ?? confirm,
      ...row,
      programs: typeof programs === 'string' ? new Set(programs.split(' ')) : programs,
      names: names?.split(' '),
    })),
  };
}

/** Whether all conditions of the row hold for the command. */
export function matchesRule(rule: CategoryRule, command: ShellCommand): boolean {
  return (
    (rule.programs === undefined || isProgram(rule.programs, programOf(command))) &&
    (rule.subcommand === undefined || rule.subcommand.test(subcommandOf(command))) &&
    matchesOptions(rule, command) &&
    matchesArguments(rule, command) &&
    matchesPaths(rule, command) &&
    (rule.when?.(command) ?? true)
  );
}

function matchesOptions({ letters, names }: CategoryRule, command: ShellCommand): boolean {
  if (letters === undefined && names === undefined) return true;
  return hasOption(optionsOf(command), letters ?? '', names);
}

function matchesArguments(rule: CategoryRule, command: ShellCommand): boolean {
  const { argument, code, line, variable } = rule;
  const words = (): readonly ShellWord[] =>
    rule.programs === undefined ? actingWordsOf(command) : argumentsOf(command);
  return (
    (argument === undefined || words().some((word) => argument.test(word.value))) &&
    (code === undefined || codeWordsOf(command).some((word) => code.test(word.value))) &&
    (line === undefined || line.test(lineOf(command))) &&
    (variable === undefined || variablesSet(command).some((name) => variable.test(name)))
  );
}

/**
 * The words that act. Patterns, messages and printed text are data (`grep 'docker.sock'` does not access the socket),
 * and so is a script of sed or awk that starts and opens nothing.
 */
function actingWordsOf(command: ShellCommand): readonly ShellWord[] {
  const habit = habitOf(programOf(command));
  if ((habit === 'sed' || habit === 'awk') && !isHarmlessScript(command)) return argumentsOf(command);
  const texts = textWordsOf(command);
  return argumentsOf(command).filter((word) => !texts.has(word));
}

function matchesPaths({ path, written }: CategoryRule, command: ShellCommand): boolean {
  return (
    (path === undefined || pathWordsOf(command).some((word) => path.test(normalPath(word)))) &&
    (written === undefined || writtenPathsOf(command).some((word) => written.test(normalPath(word))))
  );
}

function isProgram(programs: ReadonlySet<string> | RegExp, program: string): boolean {
  return programs instanceof RegExp ? programs.test(program) : programs.has(program);
}

/** Long options before the subcommand whose value may be the next word. */
const VALUES_BEFORE = byWord<readonly string[]>({
  git: ['git-dir', 'work-tree', 'namespace', 'super-prefix', 'attr-source', 'config-env'],
  'npm pnpm yarn bun cnpm': ['cache', 'cwd', 'dir', 'filter', 'loglevel', 'prefix', 'registry', 'workspace'],
  uv: ['cache-dir', 'color', 'config-file', 'directory', 'project'],
  'poetry pdm': ['directory', 'project'],
  composer: ['working-dir'],
  cargo: ['color', 'config'],
  gem: ['config-file'],
  'bundle bundler': ['gemfile'],
  helm: ['kube-apiserver', 'kube-context', 'kube-token', 'kubeconfig', 'namespace', 'registry-config'],
});

/** The first two operands. */
export function subcommandOf(command: ShellCommand): string {
  const { operands } = optionsOf(command, VALUES_BEFORE.get(programOf(command)) ?? []);
  return operands
    .slice(0, 2)
    .map((word) => word.value)
    .join(' ');
}

/** Arguments as one line. */
export function lineOf(command: ShellCommand): string {
  return argumentsOf(command)
    .map((word) => word.value)
    .join(' ');
}

/** `host:path`, `user@host:path`, `rsync://host/path` */
export const ON_ANOTHER_MACHINE = /^[^/\s:]+:|^(?:rsync|scp|ftp):/;

/** The command prints only help or a version. */
export function isAboutItself(command: ShellCommand): boolean {
  return argumentsOf(command).every((word) => /^(?:-[hvV]|--?help|--?version)$/.test(word.value));
}

/** `//etc/./x` → `/etc/x`; `$HOME` → `~`. */
export function normalPath(word: ShellWord): string {
  const value = /^\$\{?HOME\}?(?=\/|$)/.test(word.value)
    ? word.value.replace(/^\$\{?HOME\}?/, '~')
    : word.value;
  return value
    .replaceAll(/\/(?:\.?\/)+/g, '/')
    .replace(/\/\.$/, '/')
    .replace(/^(?:\.\/)+/, '');
}

const EXPORTERS = new Set(['export', 'declare', 'typeset', 'readonly', 'local', 'setenv']);

function variablesSet(command: ShellCommand): readonly string[] {
  const names = command.assignments.filter((each) => !hasHarmlessValue(each)).map((each) => each.name);
  if (!EXPORTERS.has(programOf(command))) return names;
  const exported = argumentsOf(command).filter((word) => !exportsHarmlessValue(word));
  return [...names, ...exported.map((word) => word.value.split('=', 1)[0] ?? '')];
}
