/**
 * Breaks text between words at the width of a line, also text that comes in pieces. A word wider than a line is left to
 * the terminal, which keeps it whole for copying.
 */
import { columnsOf } from './text.ts';

export interface Wrapper {
  /** Returns what can already be shown; the last word waits for its end. */
  push(piece: string): string;
  /** Returns the rest; the next piece begins a line. */
  flush(): string;
}

/** A line may also break between two characters of a script without spaces; closing marks stay with theirs. */
const NO_SPACES = String.raw`\p{sc=Han}\p{sc=Hira}\p{sc=Kana}`;
const TOKENS = new RegExp(
  String.raw`\n|[^\S\n]+|[${NO_SPACES}][\p{P}\u3000-\u303f\uff00-\uff0f]*|[^\s${NO_SPACES}]+`,
  'gu',
);

/** `columns` is called at each word, because a terminal may change its size. */
export function createWrapper(columns: () => number): Wrapper {
  let used = 0;
  let gap = '';
  let word = '';

  function take(token: string): string {
    if (token === '\n') {
      [used, gap] = [0, ''];
      return token;
    }
    if (/^\s/.test(token)) {
      gap += token;
      return '';
    }
    const [space, width, limit] = [gap, columnsOf(token), columns()];
    gap = '';
    const isFull = used > 0 && used + columnsOf(space) + width > limit;
    used = isFull ? width : used + columnsOf(space) + width;
    return (isFull ? '\n' : space) + token;
  }

  return {
    push(piece) {
      const tokens = (word + piece).match(TOKENS) ?? [];
      word = /\S$/.test(piece) || piece === '' ? (tokens.pop() ?? '') : '';
      return tokens.map(take).join('');
    },
    flush() {
      const rest = word === '' ? '' : take(word);
      [used, gap, word] = [0, '', ''];
      return rest;
    },
  };
}

/** What a line and each of its continuations begin with: its style, its indentation, a bar. */
const BEGINNING = /^((?:\u001b\[[\d;]*m)*)([^\S\n]*(?:│ )?)(.*)$/u;

/** Wraps whole text, line by line; a continued line keeps its indentation. */
export function wrapText(text: string, columns: number): string {
  return text
    .split('\n')
    .map((line) => {
      const [, style = '', indentation = '', rest = ''] = BEGINNING.exec(line) ?? [];
      const wrapper = createWrapper(() => columns - columnsOf(indentation));
      const wrapped = wrapper.push(rest) + wrapper.flush();
      return style + indentation + wrapped.replaceAll('\n', `\n${indentation}`);
    })
    .join('\n');
}
