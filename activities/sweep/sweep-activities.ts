/** The parts of a sweep (workflows/sweep.ts). */
import { LOST_AFTER_SECONDS, type SweepActivities } from '#domain/sweep.ts';
import { pruneIdempotencyKeys } from '#store/idempotency-store.ts';
import type { Pool } from '#store/pool.ts';
import type { LostWork } from '#temporal/lost-work.ts';
import { activityFailure, failingAs } from '../activity-failure.ts';
import type { Boxes } from '../sandbox/boxes.ts';

export interface SweepDeps {
  readonly pool: Pool;
  readonly lost: Pick<LostWork, 'sweepAll'>;
  readonly boxes: Pick<Boxes, 'prune' | 'used'>;
}

export function createSweepActivities({ pool, lost, boxes }: SweepDeps): SweepActivities {
  return {
    sweep_lost_work: part(() => lost.sweepAll(LOST_AFTER_SECONDS)),
    prune_rows: part(() => pruneIdempotencyKeys(pool)),
    reap_boxes: part(async () => (boxes.used ? boxes.prune() : 0)),
  };
}

function part(work: () => Promise<number>): () => Promise<number> {
  return () => failingAs(activityFailure, work)(undefined);
}
