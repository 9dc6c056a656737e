/** Puts rollouts back whose own rule says so. */
import type { WorkerPart } from '#domain/feature.ts';
import { Failure } from '#domain/errors.ts';
import { isOver, readLimits } from '#domain/figure-limits.ts';
import type { Pool } from '#store/postgres/pool.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import type { WorkerCore } from '#workers/worker-core.ts';
import { endRollout } from './rollout-store.ts';
import { watchedRollouts } from './runs-store.ts';
import { TURNS_BEFORE_ABORT } from './schema.ts';

const BY = 'system';

export const createWorkerPart = ({ pool }: WorkerCore): WorkerPart => ({
  recover: () => putBackFailing(pool),
});

/** Safe to repeat, also concurrently: each names the rollout that it has seen. Returns how many were put back. */
export async function putBackFailing(pool: Pool): Promise<number> {
  const watched = await watchedRollouts(pool);
  const failing = watched.filter(
    ({ ended, failed, abort }) =>
      ended >= TURNS_BEFORE_ABORT &&
      readLimits(abort, ['failed']).some((limit) => isOver(limit, { now: failed, whole: ended })),
  );
  const outcomes = await Promise.all(
    failing.map(async ({ tenant, agent, rollout, abort, ended, failed }) => {
      const reason = `${abort}: ${failed} of ${ended} turns failed`;
      try {
        await endRollout(forTenant(pool, tenant), agent, 'back', rollout, { by: BY, reason });
        return 1;
      } catch (error) {
        // Somebody else has ended it since.
        if (error instanceof Failure && error.type === 'Conflict') return 0;
        throw error;
      }
    }),
  );
  return outcomes.filter((count) => count === 1).length;
}
