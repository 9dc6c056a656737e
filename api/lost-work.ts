/**
 * Finds assignments whose workflow was ended from outside, so that a caller that lists, reads or stops one sees that it
 * is over.
 */
import { createLostWork, type LostWork } from '#temporal/lost-work.ts';
import type { StopAssignmentsDeps } from '#temporal/stop-assignments.ts';
import type { ApiDeps } from './deps.ts';

/** A list is not worth a longer wait for Temporal; after this time it shows what the rows say. */
const LOOK_MS = 1_000;

/** The lookup for `stopAssignment` and `stopAssignments`, which also detect lost work. */
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
