/** Tells the subagent that works in a session that none of its turns is left, before the session's run ends. */
import { CancellationScope, log, proxyLocalActivities, TemporalFailure } from '@temporalio/workflow';
import { LOST_END } from '#domain/lost-work.ts';
import type { SubagentActivities } from '#domain/subagent.ts';
import type { AgentTurnInput, TurnOutcome } from '#domain/turn.ts';
import { SESSION_END } from '../activity-options.ts';

export async function tellSessionEnd(
  subagentId: string,
  { tenant, lost }: AgentTurnInput,
  { turn_id, status }: TurnOutcome,
): Promise<void> {
  const { tell_session_end } = proxyLocalActivities<SubagentActivities>(SESSION_END);
  const isLost = lost && turn_id === '';
  const end = isLost ? { status: 'failed' as const, reason: LOST_END.error.message } : { status };
  try {
    await CancellationScope.nonCancellable(() =>
      tell_session_end({ tenant, subagent_id: subagentId, ...end }),
    );
  } catch (error) {
    if (!(error instanceof TemporalFailure)) throw error;
    // Workers look each minute for subagents whose session is over (temporal/lost-work.ts).
    log.warn('the subagent was not told', { subagentId, problem: error.message });
  }
}
