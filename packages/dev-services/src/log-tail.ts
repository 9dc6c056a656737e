/** Reads the end of a log file, and what is written to it from then on. */
import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** Bytes that are read from the end at most. */
const MAX_TAIL = 4 * 1_048_576;
const CHUNK = 65_536;
const LOOK_MS = 250;

export interface LogTail {
  readonly lines: readonly string[];
  /** Where the next line begins, for `followLog`. */
  readonly end: number;
}

/** The last whole lines; none when there is no such file. */
export function readLogTail(file: string, count: number): LogTail {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size === 0) return { lines: [], end: 0 };
  const start = Math.max(0, size - MAX_TAIL);
  const bytes = readRange(file, start, size);
  const end = bytes.lastIndexOf(0x0a) + 1;
  const whole = bytes.toString('utf8', start === 0 ? 0 : bytes.indexOf(0x0a) + 1, end);
  const lines = whole.split('\n').slice(0, -1);
  return { lines: count === 0 ? [] : lines.slice(-count), end: start + end };
}

/** Yields lines as they are written, without end; a file that was set aside is followed in its new place. */
export async function* followLog(file: string, from: number): AsyncGenerator<string> {
  let at = from;
  let rest = Buffer.alloc(0);
  for (;;) {
    const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
    if (size < at) [at, rest] = [0, Buffer.alloc(0)];
    if (size === at) {
      await sleep(LOOK_MS);
      continue;
    }
    const piece = readRange(file, at, Math.min(size, at + CHUNK));
    at += piece.length;
    rest = Buffer.concat([rest, piece]);
    const end = rest.lastIndexOf(0x0a) + 1;
    yield* rest.toString('utf8', 0, end).split('\n').slice(0, -1);
    // Output that goes on without a line end is no line of a log, so it is not kept.
    rest = rest.length - end > MAX_TAIL ? Buffer.alloc(0) : rest.subarray(end);
  }
}

/** The bytes from `start` to before `end`, as far as the file has them. */
export function readRange(file: string, start: number, end: number): Buffer {
  const buffer = Buffer.alloc(end - start);
  const fd = openSync(file, 'r');
  try {
    return buffer.subarray(0, readSync(fd, buffer, 0, buffer.length, start));
  } finally {
    closeSync(fd);
  }
}
