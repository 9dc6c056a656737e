/** The API's look at work whose workflow was ended from outside: whoever lists, reads or stops it sees that it is over. */
import { createLostWork, type LostWork } from '#activities/lost-work.ts';
import type { ApiDeps } from './deps.ts';

/** A list is worth no longer a wait for Temporal: it then says what the rows say. */
const LOOK_MS = 1_000;

export function lostWorkOf({
  pool,
  notifier,
  temporal,
}: Pick<ApiDeps, 'pool' | 'notifier' | 'temporal'>): LostWork {
  return createLostWork({
    pool,
    onWrite: notifier.poke,
    reach: temporal,
    now: Date.now,
    lookMs: LOOK_MS,
  });
}
