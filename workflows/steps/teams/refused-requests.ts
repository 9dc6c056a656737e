/** Signals that a task has refused: its row and its state report them. */
import { CancellationScope, log, proxyLocalActivities, uuid4 } from '@temporalio/workflow';
import { isNoted, type RefusedSignals } from '#domain/approval/refused-signals.ts';
import { isRecord } from '#domain/outside-value.ts';
import type { TaskAction, TaskRequest, TeamTaskActivities } from '#domain/team/team-task.ts';
import { RECORD } from '../../activity-options.ts';
import { shownText } from '../refused-signals.ts';
import type { KnownTask } from './task-record.ts';

const local = proxyLocalActivities<Pick<TeamTaskActivities, 'note_refused_signal'>>(RECORD);

export interface RefusedRequests {
  signals?: RefusedSignals;
  /** Number of refused signals that this run has seen, and that its row had before. */
  refusals: number;
}

/** Of many refused signals, most are only counted. */
export async function noteRefused(
  progress: KnownTask & RefusedRequests,
  action: TaskAction,
  request: TaskRequest | undefined,
  problem: string,
): Promise<void> {
  const before = progress.refusals;
  progress.refusals += 1;
  if (!isNoted(progress.refusals)) {
    if (progress.signals) progress.signals = { ...progress.signals, refused: progress.refusals };
    return;
  }
  log.warn('signal refused', { task: progress.input.number, what: action, problem });
  const by = shownText(isRecord(request?.by) ? request.by.name : undefined);
  const refused = { what: action, by, problem: shownText(problem) };
  const note = { ...progress.input, key: uuid4(), refused, before };
  const noted = await CancellationScope.nonCancellable(() =>
    progress.inTurn(() => local.note_refused_signal(note)),
  );
  // Others may have been counted meanwhile.
  if (noted) progress.signals = { ...noted, refused: Math.max(noted.refused, progress.refusals) };
}
