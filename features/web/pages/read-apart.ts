/**
 * Reads a page in a process that is made for it and ends with it. No page can thus stop, fill or crash the worker, or
 * leave anything for the next one.
 */
import { fork } from 'node:child_process';
import type { HtmlReading } from './read-html.ts';

export type Reading =
  | { readonly how: HtmlReading | 'duckduckgo'; readonly html: string; readonly url: string }
  | { readonly how: 'pdf'; readonly bytes: Uint8Array; readonly from?: number; readonly to?: number }
  | { readonly how: 'office'; readonly bytes: Uint8Array };

/** What the process sends at its end. */
export type Read = { readonly text: string } | { readonly problem: string };

export type ThreadMessage =
  /** Sent when its code is loaded, which used this many milliseconds of CPU time; the time limit starts then. */
  | { readonly kind: 'begun'; readonly used: number }
  | { readonly kind: 'read'; readonly text: string }
  | { readonly kind: 'failed'; readonly problem: string };

/** The reader ends itself earlier; this is for one that does not. */
const LATEST_MS = 30_000;
/** Concurrent readings in this process; further ones wait. */
const MAX = 2;

/** The page could not be read in this way: too long, too large or broken. */
export class ReadingProblem extends Error {}

let running = 0;
const waiting: (() => void)[] = [];

/** @throws ReadingProblem, and the signal's reason when that ends it. */
export async function readApart(job: Reading, signal: AbortSignal): Promise<string> {
  if (running >= MAX) await new Promise<void>((resolve) => waiting.push(resolve));
  else running += 1;
  try {
    signal.throwIfAborted();
    return await inProcess(job, signal);
  } finally {
    const next = waiting.shift();
    // Its place goes to the next one.
    if (next) next();
    else running -= 1;
  }
}

async function inProcess(job: Reading, signal: AbortSignal): Promise<string> {
  const reader = fork(new URL('./page-process.ts', import.meta.url), {
    serialization: 'advanced',
    env: {},
    execArgv: [],
    // The readers' messages about a page do not belong in our logs.
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const failed = (problem: string): void => reject(new ReadingProblem(problem));
  const stop = (): void => reject(signal.reason as Error);
  const late = setTimeout(() => failed('its reader does not end'), LATEST_MS);
  reader.on('message', (read: Read) => ('text' in read ? resolve(read.text) : failed(read.problem)));
  reader.on('error', (error) => failed(error.message));
  reader.on('exit', () => failed('its reader ended'));
  signal.addEventListener('abort', stop);
  try {
    // If the process has ended, its end is reported anyway.
    reader.send(job, () => undefined);
    return await promise;
  } finally {
    clearTimeout(late);
    signal.removeEventListener('abort', stop);
    reader.kill('SIGKILL');
  }
}
