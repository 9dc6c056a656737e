/** Forgets a session, or all data of one user; its receipt is a row (docs/forgetting.md). */
import { proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { ForgetActivities, ForgetInput, Removed } from '#domain/forgetting.ts';
import { inputProblem } from '#domain/turn/start-problem.ts';
import { FORGETTING } from './activity-options.ts';
import { refuseWrongStart } from './steps/refuse-start.ts';

const { stop_forgotten, forget_runs, forget_rows } = proxyActivities<ForgetActivities>(FORGETTING);

export async function forget(input: ForgetInput): Promise<Removed> {
  refuseWrongStart(inputProblem('forget', input, ['tenant', 'id'], []));
  setCurrentDetails('Stops what runs');
  await stop_forgotten(input);
  setCurrentDetails('Removes the runs of its workflows');
  await forget_runs(input);
  setCurrentDetails('Removes rows');
  const removed = await forget_rows(input);
  setCurrentDetails(
    `Removed ${Object.entries(removed)
      .map(([kind, n]) => `${n} ${kind}`)
      .join(', ')}`,
  );
  return removed;
}
