/** Keeps the first 70 % and last 30 % of a stream of any length, in a fixed size. */

export interface OutputWindow {
  write(chunk: Buffer): void;
  /** The text, with a line in place of what was left out. */
  text(): string;
  readonly total: number;
}

/** 1 MiB per stream. */
export const STREAM_BYTES = 1_048_576;

export function createOutputWindow(bytes: number = STREAM_BYTES): OutputWindow {
  const headLimit = Math.floor(bytes * 0.7);
  const tailLimit = bytes - headLimit;
  const head: Buffer[] = [];
  let headBytes = 0;
  let tail: Buffer[] = [];
  let tailBytes = 0;
  let total = 0;

  const addTail = (piece: Buffer): void => {
    tail.push(piece);
    tailBytes += piece.length;
    // Trimmed in steps, so that many small chunks do not cost a copy each.
    if (tailBytes < tailLimit * 2 && tail.length < 4096) return;
    const all = Buffer.concat(tail);
    const kept = Buffer.from(all.subarray(Math.max(0, all.length - tailLimit)));
    tail = [kept];
    tailBytes = kept.length;
  };

  return {
    get total() {
      return total;
    },
    write(chunk) {
      total += chunk.length;
      const toHead = Math.min(headLimit - headBytes, chunk.length);
      if (toHead > 0) {
        // Copied, because a chunk may be a view of a larger pool.
        head.push(Buffer.from(chunk.subarray(0, toHead)));
        headBytes += toHead;
      }
      if (toHead < chunk.length) addTail(Buffer.from(chunk.subarray(toHead)));
    },
    text() {
      const all = Buffer.concat(tail);
      const last = all.subarray(Math.max(0, all.length - tailLimit));
      const first = Buffer.concat(head);
      if (total === headBytes + last.length) return Buffer.concat([first, last]).toString('utf8');
      const begin = first.subarray(0, lastWordEnd(first));
      const end = last.subarray(firstWordEnd(last));
      const remaining = total - begin.length - end.length;
      return `${begin.toString('utf8')}\n[${remaining} bytes left out]\n${end.toString('utf8')}`;
    },
  };
}

/**
 * A word that the cut goes through is left out whole, because half of a secret does not look like one and is not
 * scrubbed. A word longer than this does not have the shape of a secret.
 */
const MAX_WORD = 8_192;

function lastWordEnd(bytes: Buffer): number {
  for (let at = bytes.length; at > Math.max(0, bytes.length - MAX_WORD); at--)
    if (isBlank(bytes[at - 1])) return at;
  return bytes.length;
}

function firstWordEnd(bytes: Buffer): number {
  for (let at = 0; at < Math.min(bytes.length, MAX_WORD); at++) if (isBlank(bytes[at])) return at;
  return 0;
}

function isBlank(byte: number | undefined): boolean {
  return byte === 32 || byte === 10 || byte === 9 || byte === 13;
}
