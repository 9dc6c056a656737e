/** One Nexus operation: follows the turn that it began until that has ended, and stops it when it is cancelled. */
import {
  CancellationScope,
  CancelledFailure,
  continueAsNew,
  isCancellation,
  proxyActivities,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import { inputProblem } from '#domain/turn/start-problem.ts';
import { FOLLOWED } from '#workflows/activity-options.ts';
import { refuseWrongStart } from '#workflows/steps/refuse-start.ts';
import {
  lookAgainSeconds,
  NEXUS_TURN,
  type NexusActivities,
  type NexusTurnInput,
  type TurnOutput,
} from './contract.ts';

export async function nexusTurn(input: NexusTurnInput): Promise<TurnOutput> {
  refuseWrongStart(inputProblem(NEXUS_TURN, input, ['tenant', 'session', 'turn'], []));
  const { follow_turn, stop_turn } = proxyActivities<NexusActivities>(FOLLOWED);
  const { tenant, session, turn, since = Date.now() } = input;
  const followed = { tenant, session, turn };
  const look = async (): Promise<TurnOutput | null> => {
    const output = await follow_turn(followed);
    if (!output) await sleep(lookAgainSeconds(Date.now() - since) * 1000);
    return output;
  };
  let { isCancelled = false } = input;
  for (;;) {
    const output = isCancelled
      ? await CancellationScope.nonCancellable(async () => {
          // Each time, because a run of the session that was lost goes on without knowing of it.
          await stop_turn(followed);
          return look();
        })
      : await look().catch(ifCancelled);
    if (output === 'cancelled') isCancelled = true;
    else if (output) return outcomeOf(output, isCancelled);
    if (workflowInfo().continueAsNewSuggested)
      await continueAsNew<typeof nexusTurn>({ ...followed, since, isCancelled });
  }
}

function ifCancelled(error: unknown): 'cancelled' {
  if (!isCancellation(error)) throw error;
  return 'cancelled';
}

/** A turn that was over before the stop reached it has an answer. */
function outcomeOf(output: TurnOutput, isCancelled: boolean): TurnOutput {
  if (isCancelled && output.status === 'stopped') throw new CancelledFailure('The turn was stopped');
  return output;
}
