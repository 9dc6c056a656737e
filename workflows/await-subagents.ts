/** Waits for a session's subagents (spawn, action wait): a durable wait occupies no worker. */
import {
  CancellationScope,
  condition,
  defineSignal,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
} from '@temporalio/workflow';
import type { AssignmentActivities } from '#domain/assignment/assignment.ts';
import { AWAIT_SUBAGENTS, type CollectSubagentsInput } from '#domain/assignment/subagent.ts';
import { RECORD } from './activity-options.ts';
import { inputProblem } from '#domain/turn/start-problem.ts';
import { refuseWrongStart } from './steps/refuse-start.ts';

const endedSignal = defineSignal(AWAIT_SUBAGENTS.signals.ended);

/** The result of the call is recorded when it resolves, so the waiting turn has nothing more to record. */
export async function awaitSubagents(
  input: Omit<CollectSubagentsInput, 'last'>,
): Promise<{ readonly ok: boolean; readonly recorded: true }> {
  refuseWrongStart(inputProblem('awaitSubagents', input, ['tenant', 'session', 'turn', 'call'], ['seconds']));
  const { collect_subagents } = proxyLocalActivities<AssignmentActivities>(RECORD);
  const deadline = Date.now() + input.seconds * 1000;
  let ended = 0;
  setHandler(endedSignal, () => {
    ended += 1;
  });
  for (;;) {
    const seen = ended;
    const running = await collect_subagents(input);
    if (running === 0) return { ok: true, recorded: true };
    setCurrentDetails(`Waits for ${running} subagent(s) of \`${input.session}\``);
    // If one ended while the rows were read, they are read again at once.
    if (await condition(() => ended > seen, Math.max(1, deadline - Date.now()))) continue;
    const remaining = await CancellationScope.nonCancellable(() =>
      collect_subagents({ ...input, last: true }),
    );
    return { ok: remaining === 0, recorded: true };
  }
}
