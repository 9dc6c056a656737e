/**
 * A workspace file is changed by one caller at a time: within this process by a queue, across processes by a lock in
 * Postgres.
 */
import type { Pool } from '../postgres/pool.ts';
import { execute } from '../postgres/statements.ts';
import { inTransaction } from '../postgres/transaction.ts';

/** `file` identifies it for all processes, whatever folder theirs are in. Throws what `work` throws. */
export type FileLock = <Result>(file: string, work: () => Promise<Result>) => Promise<Result>;

/**
 * A process waits for a file with one connection, however many of its calls need it. `work` must not use the pool, and
 * must take less than ten seconds, after which the lock of a stuck process ends (store/postgres/pool.ts).
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
