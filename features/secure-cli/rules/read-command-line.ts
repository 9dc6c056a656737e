/**
 * Reads a command line as words for a program that is started without a shell, and finds the operators that only a
 * shell would interpret.
 */

export interface CommandLine {
  readonly words: readonly string[];
  /** Operators outside quotes: pipes, lists, redirections, substitutions, `${`. Each refuses the line (SH-4). */
  readonly operators: readonly string[];
  /** True if a quote does not end. */
  readonly isOpen: boolean;
}

/**
 * The longest come first. A substitution in backticks is one operator with its contents; its closing part does not
 * count.
 */
const OPERATOR = /&>>|&>|&&|\|\||\|&|[0-9]?(?:>>|[<>]&|<<<|<<|<>|>\||[<>])|\$[({]|`[^`]*`?|[|&;(\n\r]/y;

/** Quotes and backslashes work as in a POSIX shell; nothing is expanded. Takes linear time. */
export function readCommandLine(line: string): CommandLine {
  const text = withoutLastBreaks(line);
  const words: string[] = [];
  const operators: string[] = [];
  let word: string | undefined;
  let isOpen = false;
  for (let at = 0; at < text.length; ) {
    const piece = readPiece(text, at, word !== undefined);
    at = piece.end;
    isOpen ||= piece.isOpen === true;
    if (piece.kind === 'text') word = (word ?? '') + piece.text;
    else {
      if (piece.kind === 'operator') operators.push(piece.text);
      if (word !== undefined) words.push(word);
      word = undefined;
    }
  }
  if (word !== undefined) words.push(word);
  return { words, operators, isOpen };
}

/** The line breaks after a line begin no further command. */
function withoutLastBreaks(line: string): string {
  let end = line.length;
  while (end > 0 && (line[end - 1] === '\n' || line[end - 1] === '\r')) end -= 1;
  return line[end - 1] === '\\' ? line : line.slice(0, end);
}

interface Piece {
  readonly kind: 'text' | 'gap' | 'operator';
  readonly text: string;
  readonly end: number;
  readonly isOpen?: boolean;
}

function readPiece(text: string, at: number, isInWord: boolean): Piece {
  const char = text[at] as string;
  OPERATOR.lastIndex = at;
  const operator = OPERATOR.exec(text)?.[0];
  // A digit before `>` is part of the operator only at the beginning of a word.
  if (operator !== undefined && !(isInWord && /^[0-9]/.test(operator)))
    return { kind: 'operator', text: operator, end: at + operator.length };
  if (/[ \t]/.test(char)) return { kind: 'gap', text: char, end: at + 1 };
  if (char === "'" || char === '"') return { kind: 'text', ...readQuoted(text, at) };
  // As in a shell, a backslash at the end of a line joins it with the next one.
  if (char === '\\' && text[at + 1] === '\n')
    return { kind: isInWord ? 'text' : 'gap', text: '', end: at + 2 };
  if (char === '\\') return { kind: 'text', text: text[at + 1] ?? '', end: at + 2 };
  return { kind: 'text', text: char, end: at + 1 };
}

function readQuoted(text: string, start: number): { text: string; end: number; isOpen: boolean } {
  const quote = text[start];
  const parts: string[] = [];
  let at = start + 1;
  for (; at < text.length && text[at] !== quote; at += 1) {
    if (quote === '"' && text[at] === '\\' && text[at + 1] === '\n') {
      at += 1;
      continue;
    }
    const isEscape = quote === '"' && text[at] === '\\' && /["\\$`]/.test(text[at + 1] ?? '');
    if (isEscape) at += 1;
    parts.push(text[at] as string);
  }
  return { text: parts.join(''), end: at + 1, isOpen: at >= text.length };
}
