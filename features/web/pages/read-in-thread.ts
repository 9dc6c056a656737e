/** Reads a page in a thread of its own, killed at its limit of time and memory. Runs in a process of its own (page-process.ts). */
import { Worker } from 'node:worker_threads';
import type { Reading, ThreadMessage } from './read-apart.ts';

/** Of one reading: time of the processor, so that a busy machine reads the same as an idle one. */
const LIMIT_MS = 3_000;
const DOCUMENT_LIMIT_MS = 6_000;
const LOOK_MS = 100;
/** With the loading of the thread's code, and whatever else takes time without the processor. */
const WHOLE_MS = 20_000;
/** Looked at as the time is. V8's own limit, beyond which it may end the whole process, is far above what a thread takes until the next look. */
const MEMORY_BYTES = 256 * 1024 * 1024;
const LIMITS = { maxOldGenerationSizeMb: 2_048, stackSizeMb: 4 };

/** @throws Error: why it could not be read */
export async function readInThread(job: Reading): Promise<string> {
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
  const failed = (problem: string): void => reject(new Error(problem));
  const late = (): void => failed(`it cannot be read within ${limit / 1000} s`);
  const whole = setTimeout(late, WHOLE_MS);
  let attempts: NodeJS.Timeout | undefined;
  thread.on('message', (message: ThreadMessage) => {
    if (message.kind === 'read') return resolve(message.text);
    if (message.kind === 'failed') return failed(message.problem);
    const probe = async (): Promise<void> => {
      const [{ user, system }, memory] = await Promise.all([thread.cpuUsage(), thread.getHeapStatistics()]);
      if (user + system > (message.used + limit) * 1000) late();
      if (memory.used_heap_size + memory.external_memory > MEMORY_BYTES) failed('it takes too much memory');
    };
    // A thread that has ended says so itself.
    attempts = setInterval(() => void probe().catch(() => undefined), LOOK_MS);
  });
  thread.on('error', (error) => failed(error.message));
  thread.on('exit', () => failed('its reader ended'));
  try {
    return await promise;
  } finally {
    clearTimeout(whole);
    clearInterval(attempts);
    await thread.terminate();
  }
}
