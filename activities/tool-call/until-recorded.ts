/** Writes that must come true, however long Postgres is away. */
import { isTransient } from '#store/pool.ts';

/**
 * What has been done must not be forgotten because Postgres is away for a moment: the result is in this process only.
 * Ends with the attempt: start-to-close, or the worker's own end.
 */
export async function untilRecorded<Recorded>(record: () => Promise<Recorded>): Promise<Recorded> {
  for (let wait = 100; ; wait = Math.min(wait * 2, 2_000)) {
    try {
      // When another attempt holds the call or it is over, this result is late and refused; the row tells the outcome.
      return await record();
    } catch (error) {
      if (!isTransient(error)) throw error;
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
  }
}
