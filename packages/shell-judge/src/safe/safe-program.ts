/** The tables of harmless commands: programs, the options with which they stay harmless, and checks of their words. */
import { byWord } from '../by-word.ts';
import { argumentsOf, type ShellCommand } from '../shell-command.ts';
import { type KnownOptions, knownOptions } from './known-options.ts';

export type Check = (command: ShellCommand) => boolean;

export interface SafeProgram {
  /** The options with which it stays harmless. */
  readonly options: KnownOptions;
  /** It is harmless whatever words are added, as by `xargs`. */
  readonly isOpenSafe?: boolean;
  /** It prints its arguments and opens nothing: words may be unknown. */
  readonly isText?: boolean;
  /** One of its options starts programs: a file name from a pattern must not come first. */
  readonly startsPrograms?: boolean;
  readonly when?: Check;
}

export type SafePrograms = ReadonlyMap<string, SafeProgram>;

/**
 * Parses a table: names of programs in one row are separated by blanks. A row without options permits none, unless its
 * check reads all words or they are text.
 */
export function safePrograms(
  rows: Readonly<Record<string, Omit<SafeProgram, 'options'> & { readonly options?: string }>>,
): SafePrograms {
  return new Map(
    [...byWord(rows)].map(([program, row]) => {
      const { options, when, isText } = row;
      const knowsAll = options === undefined && (when !== undefined || isText === true);
      return [program, { ...row, options: knowsAll ? () => true : knownOptions(options ?? '') }];
    }),
  );
}

/** The arguments' values. */
export function valuesOf(command: ShellCommand): readonly string[] {
  return argumentsOf(command).map((word) => word.value);
}

/** Every argument has this form. */
export function onlyWords(allowed: RegExp): Check {
  return (command) => valuesOf(command).every((value) => allowed.test(value));
}

/** Every argument that is an option has this form. */
export function onlyOptions(allowed: RegExp, option = /^-./): Check {
  return (command) => valuesOf(command).every((value) => !option.test(value) || allowed.test(value));
}

/** The first argument has this form. */
export function firstIs(allowed: RegExp): Check {
  return (command) => allowed.test(valuesOf(command)[0] ?? '');
}

/** The first word after the program is one of these, and the options before `--` are known. */
export function runs(subcommand: RegExp, options: string): Check {
  const isKnown = knownOptions(options);
  return (command) => {
    const args = valuesOf(command);
    return subcommand.test(args[0] ?? '') && isKnown(args);
  };
}

export const isAlone: Check = (command) => command.words.length === 1;
