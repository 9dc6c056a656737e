/** Reads the output of a background command from the files of fixed size that its script writes. */
import { open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { SEGMENT_BYTES } from './background-script.ts';

export interface LogPage {
  readonly text: string;
  /** Position of the text's first byte in all output. */
  readonly from: number;
  /** Position where the next page starts. */
  readonly next: number;
  /** Bytes written so far. */
  readonly total: number;
}

/** A fast command may rotate files away while they are read; this is how often the read is retried. */
const TRIES = 5;

/** `bytes` from `from` on; the last `bytes` when `from` is absent. Output that is no longer kept is skipped. */
export async function readLog(folder: string, from: number | undefined, bytes: number): Promise<LogPage> {
  let page: LogPage = { text: '', from: 0, next: 0, total: 0 };
  for (let tries = 0; tries < TRIES; tries += 1) {
    page = await readOnce(folder, from, bytes);
    if (page.next > page.from || page.total === page.from) break;
  }
  return page;
}

async function readOnce(folder: string, from: number | undefined, bytes: number): Promise<LogPage> {
  const segments = await segmentsIn(folder);
  const last = segments.at(-1);
  const total = last === undefined ? 0 : last.start + last.size;
  const oldest = segments[0]?.start ?? 0;
  const begin = Math.min(total, Math.max(oldest, from ?? total - bytes));
  const pieces: Buffer[] = [];
  let at = begin;
  for (const { path, start, size } of segments) {
    const required = Math.min(start + size, begin + bytes) - at;
    if (required <= 0 || at < start) continue;
    const piece = await readAt(path, at - start, required);
    pieces.push(piece);
    at += piece.length;
  }
  return { text: Buffer.concat(pieces).toString('utf8'), from: begin, next: at, total };
}

interface Segment {
  readonly path: string;
  readonly start: number;
  readonly size: number;
}

async function segmentsIn(folder: string): Promise<Segment[]> {
  const numbers = (await readdir(folder))
    .map((name) => /^out\.(\d+)$/.exec(name)?.[1])
    .filter((number) => number !== undefined)
    .map(Number)
    .sort((a, b) => a - b);
  const segments: Segment[] = [];
  for (const number of numbers) {
    const path = join(folder, `out.${number}`);
    try {
      segments.push({ path, start: number * SEGMENT_BYTES, size: (await stat(path)).size });
    } catch (error) {
      // It was rotated away meanwhile.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
  return segments;
}

/** Returns fewer bytes than requested, or none, when the file has been rotated away. */
async function readAt(path: string, position: number, length: number): Promise<Buffer> {
  const file = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (file === undefined) return Buffer.alloc(0);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}
