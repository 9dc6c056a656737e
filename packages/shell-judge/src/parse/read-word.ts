/** One word of the parser's tree in the form of the rules: the known and unknown parts of its value. */
import type { DoubleQuotedChild, ParameterExpansionPart, Word, WordPart } from 'unbash';
import {
  literalWord,
  type ShellCommand,
  type ShellWord,
  type Variable,
  type Variables,
} from '../shell-command.ts';
import { isPlainArithmetic } from './plain-arithmetic.ts';

/**
 * Expansions with a number or a word of the shell as value, and arguments that the script itself passes to a function.
 */
const HARMLESS_PARAMETERS = new Set(
  (
    '? # $ ! 0 1 2 3 4 5 6 7 8 9 - PWD OLDPWD HOME USER LOGNAME HOSTNAME PATH LINENO RANDOM SECONDS UID EUID PPID ' +
    'BASH_VERSION SHELL SHLVL OSTYPE HOSTTYPE MACHTYPE LANG TERM TZ COLUMNS LINES CI NODE_ENV VIRTUAL_ENV TMPDIR'
  ).split(' '),
);

/** Greatest number of values of one word; with more it is unknown. */
const MAX_CHOICES = 64;

type Reading = { -readonly [Name in keyof ShellWord]: ShellWord[Name] } & { readonly variables: Variables };

/** Reads a word; `sources` are the commands inside it. */
export function readWord(word: Word, variables: Variables, sources: readonly ShellCommand[]): ShellWord {
  const reading: Reading = { ...literalWord(''), text: word.text, sources, variables, choices: [''] };
  if (word.parts === undefined) append(reading, word.value);
  else for (const part of word.parts) readPart(part, reading, false);
  const { variables: _, ...read } = reading;
  return { ...read, choices: read.isLiteral ? null : read.choices };
}

/** A quoted `$(` or backtick: text that arithmetic, `[[` and subscripts run when they evaluate it again. */
export function hidesCommand(word: Word): boolean {
  const hides = (text: string): boolean => text.includes('$(') || text.includes('`');
  if (word.parts === undefined) return hides(word.value);
  return word.parts.some((part) => {
    if (part.type === 'DoubleQuoted' || part.type === 'LocaleString')
      return part.parts.some((child) => child.type === 'Literal' && hides(child.value));
    return (
      (part.type === 'Literal' || part.type === 'SingleQuoted' || part.type === 'AnsiCQuoted') &&
      hides(part.value)
    );
  });
}

function append(reading: Reading, text: string): void {
  reading.value += text;
  reading.choices = reading.choices?.map((choice) => choice + text) ?? null;
}

function appendUnknown(reading: Reading, guess: string, isHarmless: boolean): void {
  reading.value += guess;
  reading.isLiteral = false;
  reading.choices = null;
  reading.isHarmless &&= isHarmless;
}

function readPart(part: WordPart | DoubleQuotedChild, reading: Reading, isQuoted: boolean): void {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
      append(reading, part.value);
      return;
    case 'AnsiCQuoted':
      append(reading, part.value);
      if (part.text.includes("\\'")) reading.isAmbiguous = true;
      return;
    case 'DoubleQuoted':
    case 'LocaleString':
      for (const child of part.parts) readPart(child, reading, true);
      return;
    case 'Glob':
      append(reading, part.value);
      reading.isGlob = true;
      return;
    case 'ExtendedGlob':
      append(reading, part.text);
      reading.isGlob = true;
      reading.isHarmless = false;
      return;
    default:
      readExpansion(part, reading, isQuoted);
  }
}

type Expansion = Exclude<
  WordPart | DoubleQuotedChild,
  {
    readonly type:
      | 'Literal'
      | 'SingleQuoted'
      | 'AnsiCQuoted'
      | 'DoubleQuoted'
      | 'LocaleString'
      | 'Glob'
      | 'ExtendedGlob';
  }
>;

function readExpansion(part: Expansion, reading: Reading, isQuoted: boolean): void {
  if (readsKnown(part, reading)) return;
  if (part.type === 'SimpleExpansion') readParameter(part.text.slice(1), part, reading, isQuoted);
  else if (part.type === 'ParameterExpansion') {
    const isPlain = part.operation === undefined && part.prefix === undefined && part.index === undefined;
    if (isOfOwnArray(part, reading)) appendUnknown(reading, part.text, true);
    else if (isPlain) readParameter(part.parameter, part, reading, isQuoted);
    else appendUnknown(reading, defaultOf(part) ?? part.text, false);
  } else {
    // Commands inside are judged separately; their output is unknown but is not a name of a secret.
    appendUnknown(reading, part.text, part.type === 'CommandExpansion' && reading.sources.length > 0);
  }
}

/** `${x[@]}`, `${#x[@]}`, `${x[0]}` of an array that the script itself fills. */
function isOfOwnArray({ index, operation, parameter }: ParameterExpansionPart, reading: Reading): boolean {
  const isPlace = index !== undefined && /^(?:[@*]|\d+)$/.test(index.text);
  return isPlace && operation === undefined && reading.variables.get(parameter)?.isOwn === true;
}

/** `${x:-rm}` is likely `rm`: the text that a variable has when it is unset, or set. */
function defaultOf({ operation }: ParameterExpansionPart): string | null {
  if (operation?.type !== 'Default' || operation.operator.endsWith('?')) return null;
  const word = readWord(operation.operand, new Map(), []);
  return word.isLiteral || word.value !== word.text ? word.value : null;
}

/** Braces of plain words, arithmetic of known numbers, and the file of `<(…)`. */
function readsKnown(part: Expansion, reading: Reading): boolean {
  const { choices } = reading;
  const values = knownValues(part, reading);
  if (values === null) return false;
  appendUnknown(reading, part.text, part.type !== 'ProcessSubstitution');
  reading.choices = combined(choices, values);
  return true;
}

function knownValues(part: Expansion, reading: Reading): readonly string[] | null {
  switch (part.type) {
    case 'BraceExpansion':
      if (/^\{\d{1,6}\.\.\d{1,6}\}$/.test(part.text)) return ['0', '1'];
      return /^\{[\w./@-]*(?:,[\w./@-]*)+\}$/.test(part.text) ? part.text.slice(1, -1).split(',') : null;
    case 'ArithmeticExpansion':
      return isPlainArithmetic(part.text, reading.variables) ? ['0'] : null;
    case 'ProcessSubstitution':
      return part.text.startsWith('<(') && reading.sources.length > 0 && reading.value === ''
        ? ['/dev/fd/9']
        : null;
    default:
      return null;
  }
}

function readParameter(
  name: string,
  part: { readonly text: string; readonly pos: number },
  reading: Reading,
  isQuoted: boolean,
): void {
  const variable = reading.variables.get(name);
  const isSet = variable?.certain.some((range) => part.pos >= range.from && part.pos < range.to) === true;
  // Names in capitals may come from the environment; others are empty then.
  const isTrusted = isSet || !/[A-Z]/.test(name);
  if (variable?.values[0] === undefined) {
    readUnknown(name, part.text, reading, isTrusted ? variable : undefined);
    return;
  }
  const values = isSet ? variable.values : [...variable.values, ''];
  const splits = !isQuoted && values.some((value) => /[\s*?[]/.test(value));
  reading.value += variable.values[0];
  reading.isLiteral = false;
  reading.choices = isTrusted && !splits ? combined(reading.choices, values) : null;
  if (reading.choices === null) reading.isHarmless = false;
}

/** A number is never a path that leads outside, nor an option. */
function readUnknown(name: string, text: string, reading: Reading, variable: Variable | undefined): void {
  const isOwn = variable?.isOwn === true;
  const before = reading.choices;
  appendUnknown(reading, text, isOwn || HARMLESS_PARAMETERS.has(name));
  if (isOwn && variable.isNumber) reading.choices = combined(before, ['0']);
}

/** Each beginning with each end; null when there are too many. */
function combined(before: readonly string[] | null, values: readonly string[]): readonly string[] | null {
  if (before === null || before.length * values.length > MAX_CHOICES) return null;
  return before.flatMap((start) => values.map((value) => start + value));
}
