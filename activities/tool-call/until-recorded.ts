/** Writes that must come true, however long Postgres is away. */
import { setTimeout as sleep } from 'node:timers/promises';
import { isDatabaseFault } from '#store/pool.ts';

/**
 * What has been done must not be forgotten because Postgres fails: the result is in this process only.
 * Ends with the attempt: start-to-close, or the worker's own end.
 */
export async function untilRecorded<Recorded>(record: () => Promise<Recorded>): Promise<Recorded> {
  for (let wait = 100; ; wait = Math.min(wait * 2, 2_000)) {
    try {
      // When another attempt holds the call or it is over, this result is late and refused; the row tells the outcome.
      return await record();
    } catch (error) {
      if (!isDatabaseFault(error)) throw error;
      await sleep(wait);
    }
  }
}

/** Undefined when it has failed for `milliseconds`, or until the signal is aborted. A record that is under way then may still come true. */
export async function recordedWithin<Recorded>(
  milliseconds: number,
  signal: AbortSignal,
  record: () => Promise<Recorded>,
): Promise<Recorded | undefined> {
  const end = performance.now() + milliseconds;
  const isOver = (): boolean => signal.aborted || performance.now() >= end;
  return untilRecorded(async () => {
    try {
      return await record();
    } catch (error) {
      if (isDatabaseFault(error) && isOver()) return undefined;
      throw error;
    }
  });
}
