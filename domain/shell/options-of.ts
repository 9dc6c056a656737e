/** Options of a command line, read as GNU programs read them: joined letters, abbreviated long names, values. */
import { argumentsOf, programOf, type ShellCommand, type ShellWord } from './shell-command.ts';
import { habitOf } from './text-arguments.ts';

export interface Options {
  readonly letters: ReadonlySet<string>;
  /** Long names without dashes and value, as written. */
  readonly names: readonly string[];
  readonly operands: readonly ShellWord[];
  /** Values of options, with the letter or long name that they belong to. */
  readonly values: readonly { readonly option: string; readonly word: ShellWord; readonly value: string }[];
}

/** Letters that take a value, so that `-od` is not read as `-o -d`. Programs without an entry have none. */
const VALUE_LETTERS: Readonly<Record<string, string>> = {
  awk: 'Fvf',
  base64: 'w',
  cp: 'tS',
  curl: 'AbcCdDeEFhHKmoPQrtTuUvwxXyYz',
  cut: 'bcdf',
  date: 'dfrs',
  diff: 'UCIxXF',
  du: 'dBt',
  clang: 'oIL',
  'clang++': 'oIL',
  cc: 'oIL',
  'g++': 'oIL',
  gcc: 'oIL',
  go: 'o',
  git: 'Cc',
  grep: 'ABCDefm',
  head: 'nc',
  jq: 'fL',
  install: 'gmotS',
  ln: 'tS',
  ls: 'ITw',
  gmake: 'fCIoW',
  make: 'fCIoW',
  mkdir: 'm',
  mv: 'tS',
  node: 'epr',
  python: 'cmWX',
  rg: 'ABCEegfjmMrtTd',
  rm: '',
  sed: 'efl',
  sort: 'koStT',
  tail: 'ncs',
  tar: 'fCIXTgbHKLNFV',
  touch: 'drt',
  tree: 'LPIoH',
  uniq: 'fsw',
  wget: 'aoOeiBtTwQPUl',
  xargs: 'adEILnPs',
  xxd: 'cgls',
  zip: 'bntP',
};

/** Single-dash long options: `find -name`. Their words are not letters. */
const LONG_BY_ONE_DASH = new Set(['find', 'go', 'java', 'openssl', 'ffmpeg']);

type Value = Options['values'][number];

interface Reading {
  readonly words: readonly ShellWord[];
  readonly program: string;
  readonly longValues: readonly string[];
  readonly letters: Set<string>;
  readonly names: string[];
  readonly values: Value[];
  /** Index of the next word. */
  next: number;
}

/** @param longValues long names that take the next word as their value. */
export function optionsOf(command: ShellCommand, longValues: readonly string[] = []): Options {
  const program = habitOf(programOf(command)).replace(/^python[\d.]*$/, 'python');
  const words = argumentsOf(command);
  const operands: ShellWord[] = [];
  const reading: Reading = {
    words,
    program,
    longValues,
    letters: new Set(),
    names: [],
    values: [],
    next: 0,
  };
  for (let word = words[0]; word !== undefined; word = words[reading.next]) {
    reading.next += 1;
    if (word.value === '--') {
      operands.push(...words.slice(reading.next));
      break;
    }
    if (isLong(word.value, program)) readLong(word, reading);
    else if (word.value.startsWith('-') && word.value.length > 1) readLetters(word, reading);
    else operands.push(word);
  }
  const { letters, names, values } = reading;
  return { letters, names, operands, values };
}

function isLong(value: string, program: string): boolean {
  return value.startsWith('--') || (LONG_BY_ONE_DASH.has(program) && /^-\w{2,}/.test(value));
}

function readLong(word: ShellWord, reading: Reading): void {
  const [name = '', ...rest] = word.value.replace(/^--?/, '').split('=');
  reading.names.push(name);
  if (rest.length > 0) reading.values.push({ option: name, word, value: rest.join('=') });
  else if (reading.longValues.includes(name)) takeNext(name, reading);
}

function readLetters(word: ShellWord, reading: Reading): void {
  const withValue = VALUE_LETTERS[reading.program] ?? '';
  for (let at = 1; at < word.value.length; at += 1) {
    const letter = word.value[at] ?? '';
    reading.letters.add(letter);
    if (!withValue.includes(letter)) continue;
    const joined = word.value.slice(at + 1);
    if (joined === '') takeNext(letter, reading);
    else reading.values.push({ option: letter, word, value: joined });
    return;
  }
}

function takeNext(option: string, reading: Reading): void {
  const word = reading.words[reading.next];
  reading.next += 1;
  if (word) reading.values.push({ option, word, value: word.value });
}

/** One of the letters, or one of the long names, which may be abbreviated. */
export function hasOption(options: Options, letters: string, names: readonly string[] = []): boolean {
  for (const letter of letters) if (options.letters.has(letter)) return true;
  return options.names.some((given) => given !== '' && names.some((name) => name.startsWith(given)));
}
