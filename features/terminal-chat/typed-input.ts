/**
 * Tells what a person types at a terminal from what is pasted: a line break in pasted text never counts as Enter. There
 * is one reader at a time; it is closed before another one opens.
 */
import { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';

const PASTE_MARKS = { on: '\u001b[?2004h', off: '\u001b[?2004l' } as const;
const PASTE_MARK = /(\u001b\[20[01]~)/;
const PASTE_BEGINS = '\u001b[200~';
/** A mark that the next chunk completes. A bare ESC is a key of its own. */
const HALF_MARK = /\u001b\[(?:2(?:0[01]?)?)?$/;
const LINE_BREAK = /\r\n|\r|\n/;
const CTRL_C = '\u0003';

export interface TypedInput extends Readable {
  setRawMode(on: boolean): void;
  /** Drops input until none has come for this long. By then, keys meant for something else are gone. */
  dropUntilQuiet(milliseconds: number, signal: AbortSignal): Promise<'quiet' | 'interrupted' | 'aborted'>;
  close(): void;
}

/** `lineBreak` replaces a pasted line break. */
export function openTypedInput(
  { input, output }: { readonly input: NodeJS.ReadStream; readonly output: NodeJS.WriteStream },
  lineBreak: string,
): TypedInput {
  const joined = joinPastedLines(lineBreak);
  const utf8 = new StringDecoder('utf8');
  let onDropped: ((text: string) => void) | undefined;
  const hear = (chunk: Buffer): void => {
    const text = utf8.write(chunk);
    if (onDropped) onDropped(text);
    else typed.push(joined(text));
  };
  const typed = Object.assign(new Readable({ encoding: 'utf8', read: () => undefined }), {
    setRawMode: (on: boolean) => void input.setRawMode(on),

    async dropUntilQuiet(milliseconds: number, signal: AbortSignal) {
      const quiet = Promise.withResolvers<'quiet' | 'interrupted' | 'aborted'>();
      const timer = setTimeout(() => quiet.resolve('quiet'), milliseconds);
      const abort = (): void => quiet.resolve('aborted');
      signal.addEventListener('abort', abort);
      onDropped = (text) => {
        if (text.includes(CTRL_C)) quiet.resolve('interrupted');
        timer.refresh();
      };
      try {
        return await quiet.promise;
      } finally {
        onDropped = undefined;
        clearTimeout(timer);
        signal.removeEventListener('abort', abort);
      }
    },

    close() {
      input.off('data', hear);
      input.pause();
      input.setRawMode(false);
      output.write(PASTE_MARKS.off);
      typed.destroy();
    },
  });
  input.setRawMode(true);
  output.write(PASTE_MARKS.on);
  input.on('data', hear);
  input.resume();
  return typed;
}

/** Without the terminal's marks, lines that arrive together with more after them belong to pasted text. */
function joinPastedLines(lineBreak: string): (chunk: string) => string {
  let isPasting = false;
  let half = '';
  return (chunk) => {
    const whole = half + chunk;
    half = HALF_MARK.exec(whole)?.[0] ?? '';
    const parts = whole.slice(0, whole.length - half.length).split(PASTE_MARK);
    return parts
      .map((part) => {
        if (PASTE_MARK.test(part)) {
          isPasting = part === PASTE_BEGINS;
          return '';
        }
        const lines = part.split(LINE_BREAK);
        if (isPasting) return lines.join(lineBreak);
        const isEntered = lines.length > 1 && lines.at(-1) === '';
        return isEntered ? `${lines.slice(0, -1).join(lineBreak)}\r` : lines.join(lineBreak);
      })
      .join('');
  };
}
