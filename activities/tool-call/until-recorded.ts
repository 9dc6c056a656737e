/** Writes that must succeed, however long Postgres is unavailable. */
import { setTimeout as sleep } from 'node:timers/promises';
import { isDatabaseFault } from '#store/postgres/pool.ts';

/**
 * Finished work must not be lost because Postgres fails: only this process has the result. It ends with the attempt: by
 * the start-to-close timeout, or by the worker's own end; or when `mayGoOn` says so.
 */
export async function untilRecorded<Recorded>(
  record: () => Promise<Recorded>,
  mayGoOn = (): boolean => true,
): Promise<Recorded> {
  for (let wait = 100; ; wait = Math.min(wait * 2, 2_000)) {
    try {
      // When another attempt has the call or it is over, this result is late and refused; the row has the outcome.
      return await record();
    } catch (error) {
      if (!isDatabaseFault(error) || !mayGoOn()) throw error;
      await sleep(wait);
    }
  }
}

/**
 * Undefined when it has failed for `milliseconds`, or when the signal is aborted. A write in progress may then still
 * succeed.
 */
export async function recordedWithin<Recorded>(
  milliseconds: number,
  record: () => Promise<Recorded>,
  signal?: AbortSignal,
): Promise<Recorded | undefined> {
  const end = performance.now() + milliseconds;
  const isOver = (): boolean => signal?.aborted === true || performance.now() >= end;
  return untilRecorded(async () => {
    try {
      return await record();
    } catch (error) {
      if (isDatabaseFault(error) && isOver()) return undefined;
      throw error;
    }
  });
}
