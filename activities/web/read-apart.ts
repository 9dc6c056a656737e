/**
 * Reads a page in a thread that is made for it and killed at its limit, so that no page stops, fills or ends the worker, and none leaves
 * anything behind for the next.
 */
import { Worker } from 'node:worker_threads';
import type { HtmlReading } from './read-html.ts';

export type Reading =
  | { readonly how: HtmlReading | 'duckduckgo'; readonly html: string; readonly url: string }
  | { readonly how: 'pdf'; readonly bytes: Uint8Array; readonly from?: number; readonly to?: number }
  | { readonly how: 'office'; readonly bytes: Uint8Array };

export type ThreadMessage =
  /** Its code is loaded, which took so many milliseconds of the processor: the time begins. */
  | { readonly kind: 'begun'; readonly used: number }
  | { readonly kind: 'read'; readonly text: string }
  | { readonly kind: 'failed'; readonly problem: string };

/** Of one reading: time of the processor, so that a busy machine reads the same as an idle one. */
const LIMIT_MS = 2_000;
const DOCUMENT_LIMIT_MS = 6_000;
const LOOK_MS = 100;
/** With the loading of the thread's code, and whatever else takes time without the processor. */
const WHOLE_MS = 20_000;
/** Looked at as the time is. V8's own limit, beyond which it may end the whole process, is far above what a thread takes until the next look. */
const MEMORY_BYTES = 256 * 1024 * 1024;
const LIMITS = { maxOldGenerationSizeMb: 2_048, stackSizeMb: 4 };
/** Readings at once in this process; further ones wait. */
const MOST = 2;

/** The page could not be read in this way: too long, too large or broken. */
export class ReadingProblem extends Error {}

let running = 0;
const waiting: (() => void)[] = [];

/** @throws ReadingProblem, and the signal's reason when that ends it. */
export async function readApart(job: Reading, signal: AbortSignal): Promise<string> {
  if (running >= MOST) await new Promise<void>((resolve) => waiting.push(resolve));
  else running += 1;
  try {
    signal.throwIfAborted();
    return await inThread(job, signal);
  } finally {
    const next = waiting.shift();
    // Its place goes on to the next one.
    if (next) next();
    else running -= 1;
  }
}

async function inThread(job: Reading, signal: AbortSignal): Promise<string> {
  const limit = 'bytes' in job ? DOCUMENT_LIMIT_MS : LIMIT_MS;
  const thread = new Worker(new URL('./page-thread.ts', import.meta.url), {
    workerData: job,
    resourceLimits: LIMITS,
    env: {},
    execArgv: [],
    // What the readers say of a page is not for our logs.
    stdout: true,
    stderr: true,
  });
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const failed = (problem: string): void => reject(new ReadingProblem(problem));
  const late = (): void => failed(`it cannot be read within ${limit / 1000} s`);
  const stop = (): void => reject(signal.reason as Error);
  const whole = setTimeout(late, WHOLE_MS);
  let looks: NodeJS.Timeout | undefined;
  thread.on('message', (message: ThreadMessage) => {
    if (message.kind === 'read') return resolve(message.text);
    if (message.kind === 'failed') return failed(message.problem);
    const look = async (): Promise<void> => {
      const [{ user, system }, memory] = await Promise.all([thread.cpuUsage(), thread.getHeapStatistics()]);
      if (user + system > (message.used + limit) * 1000) late();
      if (memory.used_heap_size + memory.external_memory > MEMORY_BYTES) failed('it takes too much memory');
    };
    // A thread that has ended says so itself.
    looks = setInterval(() => void look().catch(() => undefined), LOOK_MS);
  });
  thread.on('error', (error) => failed(error.message));
  thread.on('exit', () => failed('its reader ended'));
  signal.addEventListener('abort', stop);
  try {
    return await promise;
  } finally {
    clearTimeout(whole);
    clearInterval(looks);
    signal.removeEventListener('abort', stop);
    await thread.terminate();
  }
}
