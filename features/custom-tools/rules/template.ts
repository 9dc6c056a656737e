/**
 * The command of a custom tool: shell text with `{{.key}}` in it (CU-2). A placeholder is only allowed where a quoted
 * text is one argument of one program and nothing else. Everything that could give it another meaning is refused when
 * the tool is created, so that no argument ever has one.
 */
import {
  foldCommand,
  INTERPRETERS,
  parseShell,
  programOf,
  type ShellCommand,
  SHELLS,
  unwrapCommand,
} from '@tempoclaw/shell-judge';
import type { Parameters } from './check-parameters.ts';

export const TEMPLATE_LIMITS = { characters: 16_384, placeholders: 100 };

/**
 * `{{.key}}`, and `{{key}}` for a key that is a parameter; blanks within the braces make it text, as in other systems.
 */
const PLACEHOLDER = /\{\{(\.?)([A-Za-z][A-Za-z0-9_-]{0,63})\}\}/g;

export interface Placeholder {
  readonly key: string;
  /** True if the argument is a word of its own, and false if it is a part of one, such as `--name={{.name}}`. */
  readonly isWord: boolean;
  /** The text before it in its word. If it is empty, the program sees the argument's beginning first. */
  readonly head: string;
  /** What the author wrote in its word before the first placeholder. */
  readonly written: string;
  /** The word before its own; empty when a placeholder chooses that. */
  readonly previous: string;
  /** True after a literal `--` of the same command, where the program accepts no option. */
  readonly isAfterDashes: boolean;
  /** The program that gets it, without its folder. */
  readonly program: string;
}

export interface Template {
  /** Texts around the placeholders: one more than there are placeholders. */
  readonly texts: readonly string[];
  readonly placeholders: readonly Placeholder[];
}

export type ReadTemplate =
  | { readonly ok: true; readonly template: Template }
  | { readonly ok: false; readonly problems: readonly string[] };

/** Reads a template, or returns everything that is wrong with it, in words for its author. */
export function readTemplate(command: string, parameters: Parameters): ReadTemplate {
  if (command.length > TEMPLATE_LIMITS.characters)
    return { ok: false, problems: [`must have at most ${TEMPLATE_LIMITS.characters} characters`] };
  const { refused } = foldCommand(command);
  if (refused !== null) return { ok: false, problems: [refused] };
  const { texts, keys } = split(command, parameters);
  if (keys.length > TEMPLATE_LIMITS.placeholders)
    return { ok: false, problems: [`has more than ${TEMPLATE_LIMITS.placeholders} placeholders`] };
  const problems: string[] = [];
  const marks = marksFor(command, keys.length);
  const marked = fill(texts, marks);
  const shell = parseShell(marked);
  if (shell.problem !== null) problems.push(`the shell could not read it: ${shell.problem}`);
  const placeholders = keys.map((key, index) =>
    placeOf(key, marks[index] ?? '', shell.commands, problems, {
      parameters,
      before: texts.slice(0, index + 1).join(''),
    }),
  );
  if (keys.length > 0 && command.includes('`'))
    problems.push('has a backtick: write $( ) in a command with placeholders');
  return problems.length > 0 ? { ok: false, problems } : { ok: true, template: { texts, placeholders } };
}

/** The template's text with values in place of its placeholders. It is one pass, so values are not expanded again. */
export function fill(texts: readonly string[], values: readonly string[]): string {
  return texts.map((text, index) => text + (values[index] ?? '')).join('');
}

/** The keys of a command without declared parameters; each is then a required text. */
export function keysOf(command: string): readonly string[] {
  return [
    ...new Set(
      [...command.matchAll(PLACEHOLDER)].filter(([, dot]) => dot === '.').map(([, , key]) => key ?? ''),
    ),
  ];
}

function split(command: string, parameters: Parameters): { texts: string[]; keys: string[] } {
  const texts: string[] = [];
  const keys: string[] = [];
  let from = 0;
  for (const match of command.matchAll(PLACEHOLDER)) {
    const [whole, dot, key = ''] = match;
    if (dot === '' && !Object.hasOwn(parameters.properties, key)) continue;
    texts.push(command.slice(from, match.index));
    keys.push(key);
    from = match.index + whole.length;
  }
  texts.push(command.slice(from));
  return { texts, keys };
}

/** Words that occur nowhere else in the command, one for each placeholder. */
function marksFor(command: string, count: number): readonly string[] {
  let stem = 'xArgument';
  while (command.includes(stem)) stem += 'x';
  return Array.from({ length: count }, (_, index) => `${stem}${index}z`);
}

const MARK = /xArgumentx*\d+z/g;

/** What may be beside a placeholder in its word: nothing that quotes, expands, globs or escapes. */
const PLAIN = /^[A-Za-z0-9_@%+=:,./-]*$/;

interface Surroundings {
  readonly parameters: Parameters;
  /** The template's own text up to the placeholder. */
  readonly before: string;
}

function placeOf(
  key: string,
  mark: string,
  commands: readonly ShellCommand[],
  problems: string[],
  { parameters, before }: Surroundings,
): Placeholder {
  const place: Placeholder = {
    key,
    isWord: false,
    head: '',
    written: '',
    previous: '',
    isAfterDashes: false,
    program: '',
  };
  const shown = `{{.${key}}}`;
  const refuse = (why: string): Placeholder => {
    problems.push(`${shown} ${why}`);
    return place;
  };
  if (!Object.hasOwn(parameters.properties, key))
    return refuse(`is not among the parameters; for the text itself write '{''{.${key}}}'`);
  const found = commands.flatMap((command) =>
    command.words.flatMap((word, at) => (word.text.includes(mark) ? [{ command, word, at }] : [])),
  );
  const [only] = found;
  if (!only || found.length > 1 || isQuoted(before))
    return refuse(
      'must stand outside of quotes, substitutions, redirections, here-documents and assignments: it is quoted by itself',
    );
  const { command, word, at } = only;
  const [head = '', tail = ''] = word.text.split(mark);
  if (!PLAIN.test(word.text))
    return refuse('may be joined only with letters, digits and any of _ @ % + = : , . / -');
  const receiver = receiverOf(command, mark);
  if (typeof receiver === 'string') return refuse(receiver);
  const reader = commands.map((each) => shellReader(each, mark)).find((program) => program !== undefined);
  if (reader !== undefined) return refuse(`would be read as shell text by ${reader}`);
  const isWord = head === '' && tail === '';
  const previous = command.words[at - 1]?.text ?? '';
  const absent = absenceProblem(key, isWord, previous, parameters);
  if (absent !== undefined) return refuse(absent);
  return {
    key,
    isWord,
    head: head.replace(MARK, ''),
    written: head.split(MARK, 1)[0] ?? '',
    previous: previous.replace(MARK, ''),
    isAfterDashes: receiver.before.some((each) => each.text === '--'),
    program: receiver.program,
  };
}

/** An optional argument is omitted with its word, which must not change what the other words mean. */
function absenceProblem(
  key: string,
  isWord: boolean,
  previous: string,
  { required = [], properties }: Parameters,
): string | undefined {
  if (required.includes(key) || properties[key]?.default !== undefined) return undefined;
  if (!isWord) return 'is part of a word, so it must be required or have a default';
  if (/^-[^=]*$/.test(previous) && previous !== '--')
    return `follows the option ${previous}, so it must be required or have a default`;
  return undefined;
}

/** Builtins that read their arguments as code, as names of variables, or as expressions that they evaluate. */
const EVALUATING = new Set(
  'eval source . let declare typeset local export readonly unset read mapfile readarray getopts alias trap enable complete compgen bind wait hash jobs'.split(
    ' ',
  ),
);

interface Receiver {
  readonly program: string;
  /** Its words before the argument, without its name. */
  readonly before: ShellCommand['words'];
}

/**
 * The program that gets the argument, after `env`, `timeout` and the like; or why the argument would be more than data
 * there.
 */
function receiverOf(command: ShellCommand, mark: string): Receiver | string {
  const program = programOf(command);
  const at = command.words.findIndex((word) => word.text.includes(mark));
  const before = command.words.slice(1, at);
  if (at === 0) return 'would choose the program that runs';
  if (EVALUATING.has(program)) return `would be evaluated by ${program}`;
  // There it would be the name of a variable, whose subscript is evaluated.
  if (/^(?:test|\[|printf)$/.test(program) && before.some((word) => /^-[vR]$/.test(word.text)))
    return `would be evaluated by ${program}`;
  const isCoder = INTERPRETERS.test(program) || SHELLS.has(program) || /^[gmn]?awk$|^g?sed$/.test(program);
  if (isCoder && before.every((word) => word.text.startsWith('-')))
    return `would be code or options of ${program}: let a script or a literal text come before it`;
  const inner = unwrapCommand(command).commands.find((each) =>
    each.words.some((word) => word.text.includes(mark)),
  );
  return inner ? receiverOf(inner, mark) : { program, before };
}

/**
 * The program, if any, that would read the argument as shell text: `ssh host {{.x}}`, or `sh` in `echo {{.x}} | sh`.
 */
function shellReader(command: ShellCommand, mark: string): string | undefined {
  const { commands, scripts } = unwrapCommand(command);
  if (scripts.some((script) => script.text.includes(mark))) return programOf(command);
  return commands.map((inner) => shellReader(inner, mark)).find((program) => program !== undefined);
}

/** Whether the text ends within quotes or after a backslash. This second check does not use the parser. */
function isQuoted(text: string): boolean {
  let quote = '';
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] ?? '';
    if (quote !== "'" && character === '\\') {
      at += 1;
      if (at >= text.length) return true;
    } else if (quote === character) quote = '';
    else if (quote === '' && (character === "'" || character === '"')) quote = character;
  }
  return quote !== '';
}
