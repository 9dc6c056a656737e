/** One look after what no other workflow looks after; a Temporal Schedule starts it every minute, once for all workers. */
import { ActivityFailure, log, proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { SweepActivities, SweepPart, SweepReport } from '#domain/sweep.ts';
import { SWEEPING } from './activity-options.ts';

const activities = proxyActivities<SweepActivities>(SWEEPING);

export async function sweep(): Promise<SweepReport> {
  const report = {
    sweep_lost_work: await found('sweep_lost_work'),
    prune_rows: await found('prune_rows'),
    index_memory: await found('index_memory'),
    reap_boxes: await found('reap_boxes'),
  };
  setCurrentDetails(
    `lost: ${report.sweep_lost_work ?? '–'}, pruned: ${report.prune_rows ?? '–'}, memory to index: ${report.index_memory ?? '–'}, boxes removed: ${report.reap_boxes ?? '–'}`,
  );
  return report;
}

/** What goes wrong in one part keeps none of the others from theirs. */
async function found(part: SweepPart): Promise<number | null> {
  try {
    return await activities[part]();
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    log.warn('a part of the sweep failed', { part, problem: error.cause?.message ?? error.message });
    return null;
  }
}
