/** The commands that a command starts: after `sudo`, in `sh -c`, after `find -exec`. */
import { wordsAfter } from './options-of.ts';
import {
  argumentsOf,
  literalWord,
  NO_WORDS,
  programOf,
  type ShellCommand,
  type ShellWord,
} from '../shell-command.ts';
import { parallelScripts, withInserted } from './inserted-words.ts';
import { printedText } from './printed-text.ts';
import { gitScripts } from './unwrap-git.ts';
import { SCRIPT_OPTIONS, SHELLS, STARTING_ARGUMENT, WRAPPERS, type Wrapper } from './wrappers.ts';

/** Text that a shell will read. */
export interface InnerScript {
  readonly text: string;
  readonly isLiteral: boolean;
  readonly via: readonly string[];
}

export interface Unwrapped {
  readonly commands: readonly ShellCommand[];
  readonly scripts: readonly InnerScript[];
}

const NOTHING: Unwrapped = { commands: [], scripts: [] };

/** What the command itself starts; commands that those start are not followed here. */
export function unwrapCommand(command: ShellCommand): Unwrapped {
  const program = programOf(command);
  const via = [...command.via, program];
  const args = argumentsOf(command);
  if (SHELLS.has(program)) return unwrapShell(command, via);
  if (program === 'eval') return unwrapEval(args, via);
  if (program === 'alias') return { commands: [], scripts: args.flatMap((word) => aliasScript(word, via)) };
  if (EVALUATES_SUBSCRIPTS.has(program))
    return {
      commands: [],
      scripts: evaluatedNames(program, args).flatMap((word) => subscriptScript(word, via)),
    };
  if (/^cmd(?:\.exe)?$/.test(program)) return unwrapCmd(args, via);
  if (program === 'trap') return unwrapTrap(args, via);
  if (['find', 'gfind', 'fd'].includes(program)) return unwrapFind(command, via);
  const values = program === 'git' ? gitScripts(args) : wordsAfter(args, SCRIPT_OPTIONS.get(program) ?? []);
  const scripts = values.map(({ value, isLiteral }) => ({
    text: value,
    isLiteral,
    via,
  }));
  const wrapper = startsOther(program, args) ? WRAPPERS.get(program) : undefined;
  return wrapper ? unwrapWrapper(command, wrapper, scripts, via) : { commands: [], scripts };
}

/** In `via`, before `xargs`: the words that it adds end only with NUL. */
export const XARGS_NUL = 'xargs -0';

function unwrapWrapper(
  command: ShellCommand,
  wrapper: Wrapper,
  scripts: readonly InnerScript[],
  via: readonly string[],
): Unwrapped {
  const inner = afterOptions(argumentsOf(command), wrapper);
  if (via.at(-1) === 'parallel') {
    const started = parallelScripts(command, inner.words).map((script) => ({ ...script, via }));
    return { commands: [], scripts: [...scripts, ...started] };
  }
  if (inner.words.length === 0) return { commands: [], scripts };
  if (wrapper.joins) return { commands: [], scripts: [...scripts, ...joined(inner.words, via).scripts] };
  const isOpen = command.isOpen || wrapper.isOpen === true;
  const { assignments } = inner;
  const isXargs = via.at(-1) === 'xargs';
  const own = ownWords(command, inner.words);
  const isNul = isXargs && own.some(({ value }) => /^(?:-\w*0|--null)$/.test(value));
  const words = isXargs ? withInserted(command, own, inner.words) : inner.words;
  const from = isNul ? [...via.slice(0, -1), XARGS_NUL, 'xargs'] : via;
  return { commands: [{ ...command, words, assignments, redirects: [], via: from, isOpen }], scripts };
}

/** A wrapper's arguments before the command that it starts. */
export function ownWords(command: ShellCommand, inner: readonly ShellWord[]): readonly ShellWord[] {
  return argumentsOf(command).filter((word) => !inner.includes(word));
}

function unwrapEval(args: readonly ShellWord[], via: readonly string[]): Unwrapped {
  const words = args[0]?.value === '--' ? args.slice(1) : args;
  return words.length === 0 ? NOTHING : joined(words, via);
}

/** `alias x='…'` runs the text wherever `x` is used as a command. */
function aliasScript(word: ShellWord, via: readonly string[]): readonly InnerScript[] {
  const equals = word.value.indexOf('=');
  return equals < 1 ? [] : [{ text: word.value.slice(equals + 1), isLiteral: word.isLiteral, via }];
}

/** Builtins that expand the subscript of a name once more: `unset 'a[$(id)]'` runs `id`. */
const EVALUATES_SUBSCRIPTS = new Set(
  'test [ printf unset let declare typeset local readonly export read wait'.split(' '),
);

/** `test` and `printf` take a name only after `-v`; their other words are data. */
function evaluatedNames(program: string, args: readonly ShellWord[]): readonly ShellWord[] {
  const isAfterOption = ['test', '[', 'printf'].includes(program);
  return args.filter((_, at) => !isAfterOption || args[at - 1]?.value === '-v');
}

function subscriptScript(word: ShellWord, via: readonly string[]): readonly InnerScript[] {
  const found = /^[A-Za-z_]\w*\[[^$`]*((?:\$\(|`).*)\]/s.exec(word.value)?.[1];
  return found === undefined || !word.isLiteral ? [] : [{ text: `: ${found}`, isLiteral: true, via }];
}

/** `cmd /c del /f x`: the rest of the line, or `cmd /c "del /f x"`. */
function unwrapCmd(args: readonly ShellWord[], via: readonly string[]): Unwrapped {
  const at = args.findIndex((word) => /^\/[ckCK]$/.test(word.value));
  const words = at < 0 ? [] : args.slice(at + 1);
  if (words.length === 1) return joined(words, via);
  return words.length === 0 ? NOTHING : { commands: [{ ...NO_WORDS, words, via }], scripts: [] };
}

function unwrapTrap(args: readonly ShellWord[], via: readonly string[]): Unwrapped {
  const [script] = args.filter((word) => !/^-(?:[lp]|-)$/.test(word.value));
  // `trap - INT` takes back what was set.
  return script && script.value !== '-' && args.length > 1 ? joined([script], via) : NOTHING;
}

function joined(words: readonly ShellWord[], via: readonly string[]): Unwrapped {
  const text = words.map((word) => word.value).join(' ');
  return { commands: [], scripts: [{ text, isLiteral: words.every((word) => word.isLiteral), via }] };
}

/** `poetry run x` and `poetry -C web run x` start x; `poetry show x` does not. */
export function startsOther(program: string, args: readonly ShellWord[]): boolean {
  const starting = STARTING_ARGUMENT.get(program);
  const wrapper = WRAPPERS.get(program);
  if (!starting || !wrapper) return true;
  const words = wrapper.operands === undefined ? args : afterOptions(args, { ...wrapper, operands: 0 }).words;
  return starting.test(words[0]?.value ?? '');
}

/** What find and fd replace in a word of the command that they start. Words that are added come after the script. */
const FOUND_NAME = /\{(?:\/\/|\/\.|\/|\.)?\}/;

/** `sh -c script`, `bash -lc script`, and a script on the input. */
function unwrapShell(command: ShellCommand, via: readonly string[]): Unwrapped {
  const args = argumentsOf(command);
  const scripts: InnerScript[] = [];
  const at = args.findIndex(
    (word) => /^-[a-zA-Z]*c[a-zA-Z]*$/.test(word.value) || word.value === '--command',
  );
  const script = at < 0 ? undefined : args.slice(at + 1).find((word) => !/^[-+]/.test(word.value));
  if (script) {
    const isLiteral = script.isLiteral && !(command.isOpen && FOUND_NAME.test(script.value));
    scripts.push({ text: script.value, isLiteral, via });
  }
  const { input } = command;
  if (!script && input?.kind === 'text') scripts.push({ text: input.text, isLiteral: input.isLiteral, via });
  if (!script && input?.kind === 'pipe') {
    const text = printedText(input.from);
    if (text !== null) scripts.push({ text, isLiteral: false, via });
  }
  return { commands: [], scripts };
}

const STARTS = /^(?:-exec|-execdir|-ok|-okdir|-x|-X|--exec|--exec-batch)$/;

/** `find`'s own words, and those of each `-exec … ;`. */
export function findParts(command: ShellCommand): {
  readonly own: readonly ShellWord[];
  readonly started: readonly (readonly ShellWord[])[];
} {
  const own: ShellWord[] = [];
  const started: ShellWord[][] = [];
  let words: ShellWord[] | null = null;
  for (const word of argumentsOf(command)) {
    if (words === null) {
      own.push(word);
      if (STARTS.test(word.value)) started.push((words = []));
    } else if (word.value === ';' || (word.value === '+' && words.at(-1)?.value === '{}')) words = null;
    else words.push(word);
  }
  return { own, started };
}

function unwrapFind(command: ShellCommand, via: readonly string[]): Unwrapped {
  const commands = findParts(command).started.map((words) => ({
    ...NO_WORDS,
    words,
    via,
    isOpen: true,
  }));
  return { commands, scripts: [] };
}

/** Skips a wrapper's options, operands and assignments. */
function afterOptions(
  args: readonly ShellWord[],
  wrapper: Wrapper,
): { readonly words: readonly ShellWord[]; readonly assignments: ShellCommand['assignments'] } {
  const assignments: { name: string; value: ShellWord | null }[] = [];
  let operands = wrapper.operands ?? 0;
  let i = 0;
  for (let word = args[0]; word !== undefined; word = args[i]) {
    const { value } = word;
    if (value.startsWith('-')) i += takesNext(value, wrapper) ? 2 : 1;
    else if (wrapper.takesAssignments && /^[^=]+=/.test(value)) {
      assignments.push(assignmentOf(word));
      i += 1;
    } else if (operands > 0) {
      operands -= 1;
      i += 1;
    } else break;
  }
  return { words: args.slice(i), assignments };
}

function takesNext(option: string, wrapper: Wrapper): boolean {
  if (option.startsWith('--')) return wrapper.names?.includes(option.slice(2)) ?? false;
  const letters = option.slice(1).split('');
  const at = letters.findIndex((letter) => wrapper.letters?.includes(letter));
  return at >= 0 && at === letters.length - 1;
}

function assignmentOf(word: ShellWord): { name: string; value: ShellWord } {
  const equals = word.value.indexOf('=');
  return {
    name: word.value.slice(0, equals),
    value: { ...literalWord(word.value.slice(equals + 1)), isLiteral: word.isLiteral },
  };
}
