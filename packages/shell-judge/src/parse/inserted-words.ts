/** What `xargs -I{}` and `parallel` insert into the command that they start. */
import type { ShellCommand, ShellWord } from '../shell-command.ts';
import { MAX_MADE, printedText } from './printed-text.ts';
import { quoteWord } from './quote-word.ts';

/**
 * The words of the command, with what `xargs` reads in place of its mark. Where that is not known, or more than can be
 * followed, a word with the mark is not literal.
 */
export function withInserted(
  command: ShellCommand,
  own: readonly ShellWord[],
  words: readonly ShellWord[],
): readonly ShellWord[] {
  const mark = markOf(own);
  if (mark === undefined || mark === '') return words;
  const text = knownInput(command);
  let made = 0;
  return words.map((word) => {
    const places = word.value.split(mark).length - 1;
    if (places === 0) return word;
    made += places * (text?.length ?? 0);
    if (text === null || made > MAX_MADE) return { ...word, isLiteral: false };
    return { ...word, value: word.value.replaceAll(mark, () => text) };
  });
}

/** The mark of `-I R`, `-IR`, `-i`, `-iR`, `--replace` and `--replace=R`, which may follow other letters. */
function markOf(own: readonly ShellWord[]): string | undefined {
  for (const [at, { value }] of own.entries()) {
    const letter = /^-[0oprtx]*([Ii])(.*)$/s.exec(value);
    if (letter?.[1] === 'I') return letter[2] === '' ? own[at + 1]?.value : letter[2];
    if (letter) return letter[2] || '{}';
    const long = /^--replace(?:=(.*))?$/s.exec(value);
    if (long) return long[1] || '{}';
  }
  return undefined;
}

function knownInput({ input }: ShellCommand): string | null {
  if (input?.kind === 'text') return input.text;
  return input?.kind === 'pipe' ? printedText(input.from) : null;
}

/**
 * The texts that `parallel` passes to a shell: its words with each value after `:::` in place of `{}` or at the end, or
 * without words the values themselves. A value that is not known makes a text unknown where it may be code.
 */
export function parallelScripts(
  command: ShellCommand,
  words: readonly ShellWord[],
): readonly { readonly text: string; readonly isLiteral: boolean }[] {
  const at = words.findIndex(({ value }) => SEPARATOR.test(value));
  const started = at < 0 ? words : words.slice(0, at);
  if (at < 0 && words.length === 0 && command.input === null) return [];
  const values = at < 0 ? [knownInput(command)] : valuesAfter(words.slice(at));
  const text = started.map(({ value }) => value).join(' ');
  if (values.length * text.length > MAX_MADE) return [{ text, isLiteral: false }];
  const isLiteral = started.every((word) => word.isLiteral);
  return values.map((value) => {
    if (text === '' || text === '{}') return { text: value ?? '', isLiteral: value !== null && at >= 0 };
    if (value === null) return { text, isLiteral: isLiteral && !MAY_BE_CODE.test(text) };
    const quoted = quoteWord(value);
    const filled = text.replace(PLACE, () => quoted);
    if (filled.length > MAX_MADE) return { text, isLiteral: false };
    return { text: filled === text ? `${text} ${quoted}` : filled, isLiteral };
  });
}

const SEPARATOR = /^:::+\+?$/;
const PLACE = /\{(?:\/\/|\/\.|\/|\.|\d+)?\}/g;
/** It begins with the value, or a shell takes its script from it. */
const MAY_BE_CODE = /^\{|(?:^|\/|\s)(?:\w*sh|eval)\b/;

/** The words after `:::`; those after `::::` are names of files with values. */
function valuesAfter(words: readonly ShellWord[]): readonly (string | null)[] {
  let isFile = false;
  const values: (string | null)[] = [];
  for (const { value, isLiteral } of words) {
    if (SEPARATOR.test(value)) isFile = value.startsWith('::::');
    else values.push(isFile || !isLiteral ? null : value);
  }
  return values;
}
