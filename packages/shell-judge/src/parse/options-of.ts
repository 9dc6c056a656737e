/** Options of a command line, parsed as GNU programs do: joined letters, abbreviated long names, values. */
import { byWord } from '../by-word.ts';
import { argumentsOf, programOf, type ShellCommand, type ShellWord } from '../shell-command.ts';
import { habitOf } from '../text-arguments.ts';

export interface Options {
  readonly letters: ReadonlySet<string>;
  /** Long names without dashes and value, as written. */
  readonly names: readonly string[];
  readonly operands: readonly ShellWord[];
  /** Values of options, with the letter or long name that they belong to. */
  readonly values: readonly { readonly option: string; readonly word: ShellWord; readonly value: string }[];
}

/** Letters with a value, so that `-od` is not read as `-o -d`. Programs without an entry have none. */
const VALUE_LETTERS = byWord<string>({
  awk: 'Fvf',
  base64: 'w',
  cargo: 'CZ',
  composer: 'd',
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
  go: 'Co',
  git: 'Cc',
  grep: 'ABCDefm',
  head: 'nc',
  helm: 'n',
  jq: 'fL',
  install: 'gmotS',
  ln: 'tS',
  ls: 'ITw',
  gmake: 'fCIoW',
  make: 'fCIoW',
  mkdir: 'm',
  mv: 'tS',
  node: 'epr',
  npm: 'CF',
  'pdm poetry': 'CP',
  pandoc: 'ofrtwMVHBATFLcD',
  python: 'cmWX',
  rg: 'ABCEegfjmMrtTd',
  rm: '',
  sed: 'efl',
  sort: 'koStT',
  tail: 'ncs',
  tar: 'fCIXTgbHKLNFV',
  touch: 'drt',
  tree: 'LPIoH',
  shuf: 'no',
  unzip: 'dPx',
  csplit: 'fnb',
  patch: 'dirpoBDFVYz',
  uniq: 'fsw',
  wget: 'aoOeiBtTwQPUl',
  xargs: 'adEILnPs',
  xxd: 'cgls',
  zip: 'bntP',
});

/** Programs with single-dash long options: `find -name`. Their words are not letters. */
const LONG_BY_ONE_DASH = new Set(['find', 'go', 'java', 'openssl', 'ffmpeg']);

/** @param longValues long names that take the next word as their value. */
export function optionsOf(command: ShellCommand, longValues: readonly string[] = []): Options {
  const program = habitOf(programOf(command)).replace(/^python[\d.]*$/, 'python');
  const words = argumentsOf(command);
  const letters = new Set<string>();
  const names: string[] = [];
  const operands: ShellWord[] = [];
  const values: Options['values'][number][] = [];
  let at = 0;
  const takeNext = (option: string): void => {
    const word = words[at++];
    if (word) values.push({ option, word, value: word.value });
  };
  for (let word = words[at++]; word !== undefined; word = words[at++]) {
    const { value } = word;
    if (value === '--') {
      operands.push(...words.slice(at));
      break;
    }
    if (isLong(value, program)) {
      const [name = '', ...rest] = value.replace(/^--?/, '').split('=');
      names.push(name);
      if (rest.length > 0) values.push({ option: name, word, value: rest.join('=') });
      else if (longValues.includes(name)) takeNext(name);
    } else if (value.startsWith('-') && value.length > 1) {
      const end = lettersEnd(value, program);
      for (const letter of value.slice(1, end + 1)) letters.add(letter);
      const option = value.charAt(end);
      if (end === value.length - 1) takeNext(option);
      else if (end < value.length) values.push({ option, word, value: value.slice(end + 1) });
    } else operands.push(word);
  }
  return { letters, names, operands, values };
}

function isLong(value: string, program: string): boolean {
  return value.startsWith('--') || (LONG_BY_ONE_DASH.has(program) && /^-\w{2,}/.test(value));
}

/** Position of the first letter with a value, which may be joined to it; the word's length when there is none. */
function lettersEnd(word: string, program: string): number {
  const withValue = VALUE_LETTERS.get(program) ?? '';
  let at = 1;
  while (at < word.length && !withValue.includes(word.charAt(at))) at += 1;
  return at;
}

/** Values of one of the options: in the next word, joined to a letter, or after `=`. */
export function wordsAfter(args: readonly ShellWord[], options: readonly string[]): readonly ShellWord[] {
  return args.flatMap((word, at): readonly ShellWord[] => {
    const next = args[at + 1];
    if (options.includes(word.value) || isCluster(word.value, options)) return next ? [next] : [];
    const text = options.find((option) =>
      word.value.startsWith(option.startsWith('--') ? `${option}=` : option),
    );
    if (text === undefined) return [];
    const value = word.value.slice(text.length).replace(/^=/, '');
    return [{ ...word, value, text: value }];
  });
}

/** `-qc` ends with the option `-c`, whose value is the next word. */
function isCluster(value: string, options: readonly string[]): boolean {
  return /^-[a-zA-Z]{2,8}$/.test(value) && options.includes(`-${value.at(-1)}`);
}

/** Whether one of the letters or long names is present; long names may be abbreviated. */
export function hasOption(options: Options, letters: string, names: readonly string[] = []): boolean {
  for (const letter of letters) if (options.letters.has(letter)) return true;
  return options.names.some((value) => value !== '' && names.some((name) => name.startsWith(value)));
}
