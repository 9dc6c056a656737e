/** The API's look at assignments whose workflow was ended from outside: whoever lists, reads or stops one sees that it is over. */
import { createLostWork, type LostWork } from '#temporal/lost-work.ts';
import type { StopAssignmentsDeps } from '#temporal/stop-assignments.ts';
import type { ApiDeps } from './deps.ts';

/** A list is worth no longer a wait for Temporal: it then says what the rows say. */
const LOOK_MS = 1_000;

/** For `stopAssignment` and `stopAssignments`, which see what is lost as well. */
export function assignmentsToStop({
  pool,
  notifier,
  temporal,
}: Pick<ApiDeps, 'pool' | 'notifier' | 'temporal'>): StopAssignmentsDeps & { readonly lost: LostWork } {
  const lost = createLostWork({
    pool,
    onWrite: notifier.notify,
    reach: temporal,
    now: Date.now,
    lookMs: LOOK_MS,
  });
  return { pool, reach: temporal, lost };
}
