/** Which words of a command are paths and which are text, so that a mention in a pattern or message is no access. */
import { byWord } from './by-word.ts';
import { type Options, optionsOf } from './parse/options-of.ts';
import {
  argumentsOf,
  literalWord,
  programOf,
  type ShellCommand,
  type ShellRedirect,
  type ShellWord,
} from './shell-command.ts';
import {
  FIND_TEXT,
  habitOf,
  TEXT_FIRST,
  TEXT_ONLY,
  TEXT_OPTIONS,
  WRITES_ALL,
  WRITES_LAST,
  WRITES_SECOND,
} from './text-arguments.ts';
import { findParts } from './parse/unwrap-command.ts';

const WRITE_OPERATORS = new Set(['>', '>>', '>|', '&>', '&>>', '<>', '>&']);
const OUTPUT_OPTIONS = ['o', 'O', 'output', 't', 'target-directory'];
/** Programs whose own options name where they write. */
const OWN_OUTPUTS = byWord<readonly string[]>({
  curl: ['output-dir', 'dump-header', 'D', 'cookie-jar', 'trace', 'trace-ascii', 'stderr'],
  wget: ['P', 'directory-prefix', 'a', 'append-output', 'output-document', 'output-file'],
  unzip: ['d'],
  tar: ['C', 'directory'],
  csplit: ['f', 'prefix'],
  patch: ['d', 'directory', 'r', 'reject-file'],
});

/** Everything that names a file: arguments that are not text, values after `=`, targets of redirections. */
export function pathWordsOf(command: ShellCommand): readonly ShellWord[] {
  return [...argumentPaths(command), ...command.redirects.flatMap(targetOf)];
}

function targetOf({ target, operator }: ShellRedirect): readonly ShellWord[] {
  if (target === null) return [];
  const isDescriptor = (operator === '>&' || operator === '<&') && /^(?:\d+-?|-)$/.test(target.value);
  if (isDescriptor) return [];
  // For arguments each value makes a separate command (expand-commands).
  return target.choices?.map((value) => ({ ...target, value })) ?? [target];
}

/** Operands and option values that are paths, by the program's known habits. */
export function argumentPaths(command: ShellCommand): readonly ShellWord[] {
  return partsOf(command).paths;
}

/** Words that are text, by the program's known habits: patterns, messages, printed text. */
export function textWordsOf(command: ShellCommand): ReadonlySet<ShellWord> {
  return new Set(partsOf(command).texts);
}

function partsOf(command: ShellCommand): Readonly<Record<'paths' | 'texts', readonly ShellWord[]>> {
  const program = programOf(command);
  if (TEXT_ONLY.has(program)) return { paths: [], texts: argumentsOf(command) };
  const habit = habitOf(program);
  if (habit === 'find') return findWords(command);
  const names = TEXT_OPTIONS.get(habit) ?? [];
  const options = optionsOf(command, names);
  const messages = habit === 'git' ? gitTexts(command) : new Set<ShellWord>();
  const input = new Set(operandPaths(habit, options));
  const operands = [...input].filter((word) => !messages.has(word));
  const isText = ({ option }: Options['values'][number]): boolean => names.includes(option);
  const values = options.values.filter((each) => !isText(each));
  return {
    paths: [...operands, ...values.map(valueWord), ...operands.flatMap(assignedWord)],
    texts: [
      ...options.operands.filter((word) => !input.has(word)),
      ...options.values.filter(isText).map(({ word }) => word),
      ...messages,
    ],
  };
}

function operandPaths(habit: string, options: Options): readonly ShellWord[] {
  const givers = TEXT_FIRST.get(habit);
  if (givers === undefined) return options.operands;
  const isNamed =
    givers.split('').some((letter) => options.letters.has(letter)) ||
    options.names.some((name) => name === 'regexp' || name === 'expression');
  return isNamed ? options.operands : options.operands.slice(1);
}

function valueWord({ word, value }: Options['values'][number]): ShellWord {
  return { ...word, value, text: value.startsWith('~') ? '~' : word.text.replace(/^~/, '') };
}

/** The path in `of=/dev/sda`, `HEAD:../x` and similar. */
function assignedWord(word: ShellWord): readonly ShellWord[] {
  const value = /^[\w-]+=(.*)$/s.exec(word.value)?.[1];
  return value === undefined ? [] : [{ ...word, value }];
}

/** `-m` has a value only for some subcommands; no subcommand has a path after it. The pattern of `git grep`. */
export function gitTexts(command: ShellCommand): ReadonlySet<ShellWord> {
  const args = argumentsOf(command);
  const searches = args[0]?.value === 'grep';
  const texts = new Set(
    args.filter((_, at) =>
      (searches ? /^-[a-zA-Z]*e$/ : /^-[a-zA-Z]*[mSG]$/).test(args[at - 1]?.value ?? ''),
    ),
  );
  const pattern =
    searches && texts.size === 0 ? args.slice(1).find((word) => !word.value.startsWith('-')) : undefined;
  return pattern ? new Set([pattern]) : texts;
}

/** Where `find` searches, and what its tests read; patterns are text. */
function findWords(command: ShellCommand): Readonly<Record<'paths' | 'texts', readonly ShellWord[]>> {
  const { own } = findParts(command);
  const isText = (at: number): boolean => FIND_TEXT.has(own[at - 1]?.value ?? '');
  return {
    paths: own.filter((word, at) => !word.value.startsWith('-') && !isText(at)),
    texts: own.filter((_, at) => isText(at)),
  };
}

/** Paths that the command writes to. */
export function writtenPathsOf(command: ShellCommand): readonly ShellWord[] {
  const written = command.redirects.filter((each) => WRITE_OPERATORS.has(each.operator)).flatMap(targetOf);
  const program = programOf(command);
  const own = !isTar(program) || extracts(command) ? (OWN_OUTPUTS.get(program) ?? []) : [];
  const options = optionsOf(command, [
    'output',
    'target-directory',
    ...own.filter((name) => name.length > 1),
  ]);
  const { operands, letters, names } = options;
  const editsInPlace =
    (habitOf(program) === 'sed' && (letters.has('i') || names.includes('in-place'))) ||
    (/^(?:perl|ruby)[\d.]*$/.test(program) &&
      argumentsOf(command).some((word) => /^-[plnaw0-9]*i/.test(word.value)));
  if (WRITES_ALL.has(program) || editsInPlace) return [...written, ...operands];
  const outputs = options.values
    .filter((each) => OUTPUT_OPTIONS.includes(each.option) || own.includes(each.option))
    .map(valueWord);
  const values = operands
    .filter((word) => word.value.startsWith('of='))
    .map((word) => literalWord(word.value.slice(3)));
  const last = WRITES_LAST.has(program) ? operands.slice(-1) : [];
  const second = WRITES_SECOND.has(program) ? operands.slice(1, 2) : [];
  return [...written, ...outputs, ...values, ...last, ...second, ...foundOutputs(command)];
}

/** Files in which `find` writes its list. */
function foundOutputs(command: ShellCommand): readonly ShellWord[] {
  if (habitOf(programOf(command)) !== 'find') return [];
  const { own } = findParts(command);
  return own.filter((_, at) => /^-f(?:ls|printf?0?)$/.test(own[at - 1]?.value ?? ''));
}

const isTar = (program: string): boolean => program === 'tar';

/** Only then does `tar -C` name a folder to write to. */
function extracts(command: ShellCommand): boolean {
  return argumentsOf(command).some(
    ({ value }, at) =>
      value === '--extract' ||
      value === '--get' ||
      /^-[a-zA-Z]*x/.test(value) ||
      (at === 0 && /^[a-zA-Z]*x/.test(value)),
  );
}
