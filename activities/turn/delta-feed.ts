/** Sends pieces of an answer to readers of the feed. They are gathered, so that a fast model costs no writes at all. */
import type { ScrubStream } from '@tempoclaw/scrubber';
import type { NewEvent } from '#domain/event.ts';
import { storableText } from '#domain/text/storable-text.ts';
import type { Fallback } from '../model/fallback.ts';

/** Milliseconds for which text is gathered; the first words come sooner, unless they are all. */
const GATHER_MS = { first: 12, further: 120 } as const;
/** The pieces that a process writes a second: with more than 240 answers at once, each is gathered for longer. */
const MAX_PIECES_PER_SECOND = 2_000;

/** Answers of this process that arrive now. */
let open = 0;

/** Characters of thoughts that readers see of one attempt. */
const MAX_THOUGHTS = 200_000;

export interface DeltaFeed {
  readonly add: (text: string) => void;
  /** Adds to what the model thinks. Nothing else contains it, so all of it is written. */
  readonly think: (text: string) => void;
  /** The text shown of this step is void: another model starts again, and readers see which and why. */
  readonly reset: (fallback: Pick<Fallback, 'from' | 'to' | 'error'>) => void;
  /** Drops gathered text, because the whole message follows, and waits for the last write. */
  close(): Promise<void>;
}

/** A failed write is not retried and does not affect the answer: the whole message comes with the record. */
export function createDeltaFeed(
  write: (events: readonly NewEvent[], isImmediate: boolean) => Promise<void>,
  input: {
    readonly step: number;
    readonly attempt: number;
    /** A model may repeat a secret from its prompt, and pieces may cut it anywhere. */
    readonly openStream: () => ScrubStream;
  },
): DeltaFeed {
  const { openStream, ...origin } = input;
  const secrets = openStream();
  let thoughts: ScrubStream | undefined;
  let gathered = '';
  let isThought = false;
  let thoughtLength = 0;
  let timer: NodeJS.Timeout | undefined;
  let isStarted = false;
  let writing: Promise<void> = Promise.resolve();
  open += 1;

  function send(event: NewEvent): void {
    const isImmediate = !isStarted;
    isStarted = true;
    writing = writing.then(() => write([event], isImmediate)).catch(() => undefined);
  }

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    const type = isThought ? 'message.thinking' : 'message.delta';
    if (gathered !== '') send({ type, data: { text: storableText(gathered), ...origin } });
    gathered = '';
  }

  function gather(text: string): void {
    gathered += text;
    if (gathered !== '') timer ??= setTimeout(flush, isStarted ? furtherMs() : GATHER_MS.first);
  }

  function endThought(): void {
    if (!isThought) return;
    gathered += thoughts?.end() ?? '';
    flush();
    isThought = false;
  }

  return {
    add(text) {
      endThought();
      gather(secrets.push(text));
    },
    think(text) {
      if (!isThought) flush();
      isThought = true;
      const shown = text.slice(0, MAX_THOUGHTS - thoughtLength);
      thoughtLength += shown.length;
      thoughts ??= openStream();
      gather(thoughts.push(shown));
    },
    reset({ from, to, error }) {
      clearTimeout(timer);
      timer = undefined;
      gathered = '';
      isThought = false;
      thoughtLength = 0;
      secrets.end();
      thoughts?.end();
      send({ type: 'message.reset', data: { ...origin, from, to, code: error.code } });
    },
    async close() {
      open -= 1;
      endThought();
      clearTimeout(timer);
      await writing;
    },
  };
}

function furtherMs(): number {
  return Math.max(GATHER_MS.further, (open * 1_000) / MAX_PIECES_PER_SECOND);
}
