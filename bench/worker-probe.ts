/**
 * Loaded into a worker's process before its own code (`--import`). On SIGUSR2, it collects garbage in every thread and
 * sends the bench the memory then in use, over IPC. Workflows live in threads, so the main thread's heap alone says
 * little.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isMainThread, BroadcastChannel } from 'node:worker_threads';
import { setTimeout as sleep } from 'node:timers/promises';

interface Used {
  readonly heap: number;
  readonly external: number;
}

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc') as (options: object) => void;
// The last-resort collection returns to the system what a heap keeps free, which varies by hundreds of megabytes.
const collect = (): void => gc({ type: 'major', execution: 'sync', flavor: 'last-resort' });
const channel: BroadcastChannel = new BroadcastChannel('bench-probe');
channel.unref();

function used(): Used {
  collect();
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return { heap: heapUsed, external };
}

if (isMainThread) {
  const answers: Used[] = [];
  channel.onmessage = ({ data }: { data: unknown }) => {
    if (typeof data === 'object' && data !== null && 'heap' in data) answers.push(data as Used);
  };
  process.on('SIGUSR2', () => {
    void report();
  });
  const report = async (): Promise<void> => {
    answers.length = 0;
    channel.postMessage('collect');
    // Threads answer between their tasks; the bench measures only idle workers.
    await sleep(1_500);
    const own = used();
    process.send?.({
      type: 'memory',
      main: own.heap + own.external,
      workflows: answers.reduce((sum, one) => sum + one.heap + one.external, 0),
      rss: process.memoryUsage.rss(),
    });
  };
} else {
  channel.onmessage = ({ data }: { data: unknown }) => {
    if (data === 'collect') channel.postMessage(used());
  };
}
