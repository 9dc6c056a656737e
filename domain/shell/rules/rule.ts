/** The form of a row in the category tables, and how a row is matched. */
import { codeWordsOf } from '../code-of.ts';
import { actingWordsOf } from '../data-words.ts';
import { hasOption, optionsOf } from '../options-of.ts';
import { pathWordsOf, writtenPathsOf } from '../path-words.ts';
import { argumentsOf, programOf, type ShellCommand, type ShellWord } from '../shell-command.ts';

export interface CommandRule {
  /** Names the row in verdicts and in the agent's settings. */
  readonly rule: string;
  /** Completes “… is denied” for a reader: what the command would do. */
  readonly reason: string;
  /** `confirm`: a person may allow it once. */
  readonly severity?: 'deny' | 'confirm';
  /** Denied to models only: who makes a custom tool may have it in its template. */
  readonly isForAuthors?: true;
  /** What follows must all hold; what is not given is not asked. */
  readonly programs?: readonly string[] | RegExp;
  /** The first operand, or the first two with a space. */
  readonly subcommand?: RegExp;
  readonly letters?: string;
  readonly names?: readonly string[];
  /** Any argument's value; where no programs are named, only of those that do something. */
  readonly argument?: RegExp;
  /** Any word that an interpreter may run as code. */
  readonly code?: RegExp;
  /** All arguments, joined by spaces. */
  readonly line?: RegExp;
  /** Any path that is read or written, not text such as a pattern. */
  readonly path?: RegExp;
  /** Any path that is written to, redirections included. */
  readonly written?: RegExp;
  /** A variable that is set for the command or exported. */
  readonly variable?: RegExp;
  readonly when?: (command: ShellCommand) => boolean;
}

export interface Category {
  readonly category: string;
  readonly rules: readonly CommandRule[];
}

/** All that the row states holds for the command. */
export function matchesRule(rule: CommandRule, command: ShellCommand): boolean {
  return (
    (rule.programs === undefined || isProgram(rule.programs, programOf(command))) &&
    (rule.subcommand === undefined || rule.subcommand.test(subcommandOf(command))) &&
    matchesOptions(rule, command) &&
    matchesArguments(rule, command) &&
    matchesPaths(rule, command) &&
    (rule.when?.(command) ?? true)
  );
}

function matchesOptions({ letters, names }: CommandRule, command: ShellCommand): boolean {
  if (letters === undefined && names === undefined) return true;
  return hasOption(optionsOf(command), letters ?? '', names);
}

function matchesArguments(rule: CommandRule, command: ShellCommand): boolean {
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

function matchesPaths({ path, written }: CommandRule, command: ShellCommand): boolean {
  return (
    (path === undefined || pathWordsOf(command).some((word) => path.test(normalPath(word)))) &&
    (written === undefined || writtenPathsOf(command).some((word) => written.test(normalPath(word))))
  );
}

function isProgram(programs: readonly string[] | RegExp, program: string): boolean {
  return Array.isArray(programs) ? programs.includes(program) : (programs as RegExp).test(program);
}

/** The first two operands. */
export function subcommandOf(command: ShellCommand): string {
  const { operands } = optionsOf(command);
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
  const names = command.assignments.map((each) => each.name);
  if (!EXPORTERS.has(programOf(command))) return names;
  return [...names, ...argumentsOf(command).map((word) => word.value.split('=', 1)[0] ?? '')];
}
