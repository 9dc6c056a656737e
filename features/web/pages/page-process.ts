/** The process that reads one page and ends; it also ends with its worker (read-apart.ts). */
import type { Read, Reading } from './read-apart.ts';
import { readInThread } from './read-in-thread.ts';

process.once('message', (job: Reading) => {
  const say = (read: Read): void => void process.send?.(read, undefined, undefined, () => process.exit());
  readInThread(job).then(
    (text) => say({ text }),
    (error: unknown) => say({ problem: error instanceof Error ? error.message : String(error) }),
  );
});
process.once('disconnect', () => process.exit());
