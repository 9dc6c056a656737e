/** EX-7: a model that repeats identical calls is warned, then stopped. */
import type { CachedRow } from './transcript-cache.ts';

export const WARN_AT = 3;
export const END_AT = 5;

/**
 * How many of the turn's last answers requested exactly the same calls with the same arguments; 0 when the last
 * requested none.
 */
export function identicalAnswers(rows: readonly CachedRow[], turn: string): number {
  let count = 0;
  let requested: string | undefined;
  for (let index = rows.length - 1; index >= 0; index -= 1) {
    const row = rows[index];
    if (!row || row.turn !== turn) break;
    if (row.role === 'user') continue;
    if (!row.callDigests || (requested !== undefined && row.callDigests !== requested)) break;
    requested = row.callDigests;
    count += 1;
  }
  return count;
}
