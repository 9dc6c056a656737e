/** The parts of a sweep (workflows/sweep.ts). */
import { LOST_AFTER_SECONDS, type SweepActivities, type SweepPart } from '#domain/sweep.ts';
import type { Retention } from '#domain/schema/forgetting.ts';
import type { WorkflowReach } from '#domain/workflow-reach.ts';
import { addUsesToSums } from '#store/budgets/usage-rollup.ts';
import { removeUnneededFiles } from '#store/files/file-store.ts';
import type { Pool } from '#store/postgres/pool.ts';
import type { RowParts } from '#store/row-parts.ts';
import { OLD_ROWS, pruneOldRows } from '#store/old-rows.ts';
import { recordSweepPart } from '#store/sweep-store.ts';
import { pruneByRetention } from '#store/retention-store.ts';
import { startLostForgettings } from '#temporal/forgetting-start.ts';
import type { LostWork } from '#temporal/lost-work.ts';
import { activityFailure, failingAs } from '../activity-failure.ts';
import type { Boxes } from '@tempoclaw/sandbox';
import type { Workspaces } from '../workspace/workspaces.ts';

export interface SweepDeps {
  readonly pool: Pool;
  readonly lost: Pick<LostWork, 'sweepAll'>;
  /** Row parts of features. */
  readonly rows: RowParts;
  readonly recover: readonly (() => Promise<number>)[];
  readonly prune: readonly (() => Promise<number>)[];
  readonly boxes: Pick<Boxes, 'prune' | 'used'>;
  readonly reach: Pick<WorkflowReach, 'stateOf' | 'start'>;
  /** Retention of tenants that set none. */
  readonly retention: Retention;
  readonly workspaces: Pick<Workspaces, 'clean'>;
}

export function createSweepActivities(deps: SweepDeps): SweepActivities {
  const { pool, reach, lost, rows, recover, prune, boxes, retention, workspaces } = deps;
  /** One after the other; a failure of one does not stop the others. */
  function part(name: SweepPart, ...works: readonly (() => Promise<number>)[]): () => Promise<number> {
    return () =>
      failingAs(activityFailure, async () => {
        const problems: unknown[] = [];
        let found = 0;
        for (const work of works)
          try {
            found += await work();
          } catch (error) {
            problems.push(error);
          }
        await recordSweepPart(pool, { part: name, found, failed: problems.length });
        if (problems.length > 0) throw problems[0];
        return found;
      })(undefined);
  }

  return {
    sweep_lost_work: part(
      'sweep_lost_work',
      () => lost.sweepAll(LOST_AFTER_SECONDS),
      () => startLostForgettings(pool, reach, LOST_AFTER_SECONDS),
      ...recover,
    ),
    prune_rows: part(
      'prune_rows',
      () => addUsesToSums(pool),
      () => pruneOldRows(pool, [...Object.values(OLD_ROWS), ...rows.flatMap(({ oldRows = [] }) => oldRows)]),
      () => removeUnneededFiles(pool, rows),
      ...prune,
      () => workspaces.clean(),
      () => pruneByRetention(pool, rows, retention),
    ),
    reap_boxes: part('reap_boxes', async () => (boxes.used ? boxes.prune() : 0)),
  };
}
