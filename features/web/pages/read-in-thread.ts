/**
 * Reads a page in a thread of its own, killed at its limit of time and memory. Runs in a process of its own
 * (page-process.ts).
 */
import { Worker } from 'node:worker_threads';
import type { Reading, ThreadMessage } from './read-apart.ts';

/** CPU time of one reading, so that a busy machine reads the same as an idle one. */
const LIMIT_MS = 3_000;
const DOCUMENT_LIMIT_MS = 6_000;
const LOOK_MS = 100;
/** Includes the loading of the thread's code, and whatever else takes time without the CPU. */
const WHOLE_MS = 20_000;
/**
 * Checked together with the time. V8's own limit, beyond which it may end the whole process, is far above what a thread
 * uses until the next check.
 */
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
    // The readers' messages about a page do not belong in our logs.
    stdout: true,
    stderr: true,
  });
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const failed = (problem: string): void => reject(new Error(problem));
  const late = (): void => failed(`it cannot be read within ${limit / 1000} s`);
  const whole = setTimeout(late, WHOLE_MS);
  let probes: NodeJS.Timeout | undefined;
  thread.on('message', (message: ThreadMessage) => {
    if (message.kind === 'read') return resolve(message.text);
    if (message.kind === 'failed') return failed(message.problem);
    const probe = async (): Promise<void> => {
      const [{ user, system }, memory] = await Promise.all([thread.cpuUsage(), thread.getHeapStatistics()]);
      if (user + system > (message.used + limit) * 1000) late();
      if (memory.used_heap_size + memory.external_memory > MEMORY_BYTES) failed('it takes too much memory');
    };
    // If the thread has ended, its end is reported anyway.
    probes = setInterval(() => void probe().catch(() => undefined), LOOK_MS);
  });
  thread.on('error', (error) => failed(error.message));
  thread.on('exit', () => failed('its reader ended'));
  try {
    return await promise;
  } finally {
    clearTimeout(whole);
    clearInterval(probes);
    await thread.terminate();
  }
}
