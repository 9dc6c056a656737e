/** One file of a workspace is changed by one at a time: of this process by their turn, of all processes by a lock in Postgres. */
import type { Pool } from './pool.ts';
import { execute } from './statements.ts';
import { inTransaction } from './transaction.ts';

/** `file` names it in all processes alike, whatever folder theirs are in. Throws what `work` throws. */
export type FileLock = <Result>(file: string, work: () => Promise<Result>) => Promise<Result>;

/**
 * A process waits with one connection for a file, however many of its calls want it. `work` asks nothing of the pool, and takes less
 * than ten seconds: then the lock of a process that stands still is over (store/pool.ts).
 */
export function createFileLock(pool: Pool): FileLock {
  const last = new Map<string, Promise<unknown>>();
  return async (file, work) => {
    const locked = () =>
      inTransaction(pool, async (tx) => {
        await execute(
          tx,
        )`select pg_advisory_xact_lock(hashtextextended(${JSON.stringify(['file', file])}, 0))`;
        return work();
      });
    const before = last.get(file) ?? Promise.resolve();
    const mine = before.then(locked, locked);
    last.set(file, mine);
    try {
      return await mine;
    } finally {
      if (last.get(file) === mine) last.delete(file);
    }
  };
}
