/**
 * A chat's terminal: the feed streams while the person types. The line being typed stays the last line of the screen.
 * Whole lines of the feed appear above it; half a line waits until it is whole or the person is done.
 */
import { createInterface, type Interface } from 'node:readline';
import { Writable } from 'node:stream';
import type { FeedSink } from '#cli/feed-view.ts';
import { openTypedInput } from '../typed-input.ts';

export interface ChatScreen extends FeedSink {
  /** Shows the empty input line; without this call, the line appears once the person types. */
  prompt(): void;
  /** Removes the input line, runs the work (a prompt of another kind), and restores it. */
  alone<T>(work: () => Promise<T>): Promise<T>;
  close(): void;
}

export interface ChatScreenOptions {
  readonly input: NodeJS.ReadStream;
  readonly output: NodeJS.WriteStream;
  readonly promptText: string;
  readonly onLine: (line: string) => void;
  readonly onInterrupt: () => void;
  /** Called at Ctrl-D. */
  readonly onEnd: () => void;
}

const CLEAR_LINE = '\r\u001b[J';
/** A line with this end continues in the next line. So does a pasted line, whatever its end is. */
const CONTINUED = '\\\r';

export function createChatScreen(options: ChatScreenOptions): ChatScreen {
  const { input, output, promptText } = options;
  let held = '';
  let isAlone = false;
  let isLineShown = false;
  let atStart = true;
  let history: string[] = [];
  // The terminal has shown what was typed before anybody read it; it appears again with the input line.
  output.write(CLEAR_LINE);
  let reader = open();

  /** Ensures that readline never writes behind half a line of the feed. */
  function beforeEcho(): void {
    if (isLineShown || isAlone) return;
    output.write(`${atStart ? '' : '\n'}${promptText}`);
    atStart = true;
    isLineShown = true;
  }

  function open(): Interface {
    const typed = openTypedInput({ input, output }, CONTINUED);
    const made = createInterface({
      input: typed,
      output: through(output, beforeEcho),
      terminal: true,
      prompt: promptText,
      history,
      historySize: 200,
    });
    made.on('history', (lines) => void (history = [...lines]));
    made.on('line', (line) => {
      isLineShown = false;
      atStart = true;
      flush();
      options.onLine(line);
    });
    made.on('SIGINT', options.onInterrupt);
    made.on('close', () => {
      typed.close();
      if (!isAlone) options.onEnd();
    });
    return made;
  }

  function isTyping(): boolean {
    return isLineShown && reader.line !== '';
  }

  function write(text: string): void {
    if (text === '') return;
    held += text;
    if (isAlone) return;
    if (!isTyping()) return flush();
    const end = held.lastIndexOf('\n') + 1;
    // A typed line of several rows is not split: the feed waits for Enter.
    if (end === 0 || reader.getCursorPos().rows > 0) return;
    const whole = held.slice(0, end);
    held = held.slice(end);
    output.write(`${CLEAR_LINE}${whole}`);
    reader.prompt(true);
  }

  function flush(): void {
    if (held === '' || isAlone) return;
    if (isLineShown) output.write(CLEAR_LINE);
    isLineShown = false;
    output.write(held);
    atStart = held.endsWith('\n');
    held = '';
  }

  const feedAtStart = (): boolean => (held === '' ? atStart : held.endsWith('\n'));

  return {
    text: write,
    line: (line) => write(`${feedAtStart() ? '' : '\n'}${line}\n`),
    end: () => write(feedAtStart() ? '' : '\n'),
    prompt() {
      if (isAlone || isLineShown) return;
      output.write(atStart ? '' : '\n');
      atStart = true;
      isLineShown = true;
      reader.prompt(true);
    },
    async alone(work) {
      flush();
      if (isLineShown) output.write(CLEAR_LINE);
      else if (!atStart) output.write('\n');
      atStart = true;
      isLineShown = false;
      isAlone = true;
      const draft = reader.line;
      reader.close();
      try {
        return await work();
      } finally {
        reader = open();
        isAlone = false;
        flush();
        reader.write(draft);
      }
    },
    close() {
      isAlone = true;
      reader.close();
      if (isLineShown || !atStart) output.write('\n');
    },
  };
}

/** Writes through at once. Otherwise readline's writes would be held back, and come long after the line was read. */
function through(output: NodeJS.WriteStream, before: () => void): Writable {
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      before();
      output.write(chunk);
      done();
    },
  });
  Object.defineProperty(stream, 'columns', { get: () => (output.columns > 0 ? output.columns : 80) });
  return stream;
}
