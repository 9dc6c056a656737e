/** Makes a fork (DU-6). It is whole when this ends, or there is none. */
import { proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import { inputProblem } from '#domain/turn/start-problem.ts';
import { FORKING } from '#workflows/activity-options.ts';
import { refuseWrongStart } from '#workflows/steps/refuse-start.ts';
import { FORK_SESSION, type ForkActivities, type ForkOutcome, type ForkSessionInput } from './contract.ts';

const { fork_session } = proxyActivities<ForkActivities>(FORKING);

export async function forkSession(input: ForkSessionInput): Promise<ForkOutcome> {
  refuseWrongStart(inputProblem(FORK_SESSION.type, input, ['tenant', 'session'], []));
  setCurrentDetails(`Copies files and conversation to ${input.session}`);
  const outcome = await fork_session(input);
  const { status, turn_id, code } = outcome;
  setCurrentDetails(
    status === 'failed'
      ? `There is no fork: ${code ?? 'failed'}`
      : `The session ${input.session} is there${turn_id === null ? '' : `, and goes on with ${turn_id}`}`,
  );
  return outcome;
}
