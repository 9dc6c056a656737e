/** The tables of harmless commands: programs, which of their options they stay harmless with, and how their words are asked. */
import { byWord } from '../by-word.ts';
import { argumentsOf, type ShellCommand } from '../shell-command.ts';

export type Check = (command: ShellCommand) => boolean;

export interface SafeProgram {
  /** Options that are not harmless. Every other one is known to be. */
  readonly notLetters?: string;
  readonly notNames?: readonly string[] | undefined;
  /** Harmless whatever words are added, as by `xargs`. */
  readonly isOpenSafe?: boolean;
  /** Prints its arguments and opens nothing: words may be unknown. */
  readonly isText?: boolean;
  /** An option of its own starts programs: no file name that a pattern finds may come first. */
  readonly startsPrograms?: boolean;
  readonly when?: Check;
}

export type SafePrograms = ReadonlyMap<string, SafeProgram>;

/** Of a table as it is written: lists of words, programs of one row among them, have blanks between them. */
export function safePrograms(
  rows: Readonly<Record<string, Omit<SafeProgram, 'notNames'> & { readonly notNames?: string }>>,
): SafePrograms {
  return new Map(
    [...byWord(rows)].map(([program, { notNames, ...row }]) => [
      program,
      { ...row, notNames: notNames?.split(' ') },
    ]),
  );
}

/** The arguments' values. */
export function valuesOf(command: ShellCommand): readonly string[] {
  return argumentsOf(command).map((word) => word.value);
}

/** Every argument is of the form. */
export function onlyWords(allowed: RegExp): Check {
  return (command) => valuesOf(command).every((value) => allowed.test(value));
}

/** Every argument that is an option is of the form. */
export function onlyOptions(allowed: RegExp, option = /^-./): Check {
  return (command) => valuesOf(command).every((value) => !option.test(value) || allowed.test(value));
}

/** Begins with such an argument. */
export function firstIs(allowed: RegExp): Check {
  return (command) => allowed.test(valuesOf(command)[0] ?? '');
}

/** The first word after the program is one of these, and no option stands before it; none before `--` is refused. */
export function runs(subcommand: RegExp, refused = /^$/): Check {
  return (command) => {
    const args = valuesOf(command);
    const own = args.includes('--') ? args.slice(0, args.indexOf('--')) : args;
    return subcommand.test(own[0] ?? '') && !own.some((arg) => refused.test(arg));
  };
}

export const isAlone: Check = (command) => command.words.length === 1;
