/** Turns a command's output into occasional lines for the event feed. */
import { StringDecoder } from 'node:string_decoder';
import { plain } from './command-text.ts';

/** Twice a second. */
const EVERY_MS = 500;
const MAX_CHARS = 500;

export interface ProgressFeed {
  take(chunk: Buffer): void;
  /** Stops the lines. */
  end(): void;
}

/**
 * Sends the newest lines, at most MAX_CHARS characters, when new output arrived. A word that is cut is left out. One
 * that may continue waits until nothing has arrived for a while, because half of a secret does not look like one.
 */
export function createProgressFeed(send: (text: string) => void): ProgressFeed {
  const decoder = new StringDecoder('utf8');
  let pending = '';
  let isCut = false;
  let isFresh = false;
  const tick = (): void => {
    const end = isFresh ? wordEnd(pending) : pending.length;
    const whole = isCut ? pending.slice(0, end).replace(/^\S+/, '') : pending.slice(0, end);
    const text = plain(whole).trim();
    pending = pending.slice(end);
    isFresh = false;
    if (end > 0) isCut = false;
    if (text !== '') send(text.length <= MAX_CHARS ? text : text.slice(-MAX_CHARS).replace(/^\S+\s*/, ''));
  };
  const timer = setInterval(tick, EVERY_MS);
  timer.unref();
  return {
    take(chunk) {
      // Only the end of a chunk can be shown; the rest is not decoded.
      const all = pending + decoder.write(chunk.subarray(-MAX_CHARS * 4));
      pending = all.slice(-MAX_CHARS * 2);
      isCut ||= chunk.length > MAX_CHARS * 4 || pending.length < all.length;
      isFresh = true;
    },
    end() {
      clearInterval(timer);
    },
  };
}

function wordEnd(text: string): number {
  let at = text.length;
  while (at > 0 && !/\s/.test(text[at - 1] as string)) at--;
  return at;
}
