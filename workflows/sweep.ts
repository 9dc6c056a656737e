/**
 * Checks work that no other workflow checks, every minute for an hour. A Temporal Schedule starts the next run, one for
 * all workers.
 */
import { ActivityFailure, log, proxyActivities, setCurrentDetails, sleep } from '@temporalio/workflow';
import {
  SWEEP,
  type SweepActivities,
  type SweepInput,
  type SweepPart,
  type SweepReport,
} from '#domain/sweep.ts';
import { SWEEPING } from './activity-options.ts';

const activities = proxyActivities<SweepActivities>(SWEEPING);

/** Runs once when `seconds` is absent. */
export async function sweep({ seconds = 0 }: SweepInput = {}): Promise<SweepReport> {
  const until = Date.now() + seconds * 1000;
  for (;;) {
    const report = await lookOnce();
    if (Date.now() + SWEEP.everySeconds * 1000 > until) return report;
    await sleep(SWEEP.everySeconds * 1000);
  }
}

async function lookOnce(): Promise<SweepReport> {
  const report = {
    sweep_lost_work: await found('sweep_lost_work'),
    prune_rows: await found('prune_rows'),
    reap_boxes: await found('reap_boxes'),
  };
  setCurrentDetails(
    `lost: ${report.sweep_lost_work ?? '–'}, pruned: ${report.prune_rows ?? '–'}, boxes removed: ${report.reap_boxes ?? '–'}`,
  );
  return report;
}

/** A failure of one part does not stop the others. */
async function found(part: SweepPart): Promise<number | null> {
  try {
    return await activities[part]();
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    log.warn('a part of the sweep failed', { part, problem: error.cause?.message ?? error.message });
    return null;
  }
}
