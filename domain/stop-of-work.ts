/** How a session is told to stop that works for somebody else: all of it, named by the message that set it to work. */
import { turnIdOf } from './ids.ts';
import { isStop } from './submit-problem.ts';
import { type AgentTurnInput, STOP_LEVELS, type StopInput } from './turn.ts';

/** The reason of a stop by the clock. */
export const TIME_UP = 'its time was up';

export function stopOfWork(
  messageId: string,
  { by = 'system', reason }: { readonly by?: string | undefined; readonly reason?: string | undefined },
): StopInput {
  return { level: 'all', turn_id: turnIdOf(messageId), by, reason };
}

/** Who ends an assignment knows only the turn that it began with, and means whichever its session is at. */
export function stopMeant({ assigned, carry }: AgentTurnInput, input: StopInput): StopInput {
  const own = (carry?.resume?.turn ?? carry?.queue[0])?.turnId;
  if (assigned === undefined || own === undefined || input?.turn_id !== assigned) return input;
  return { ...input, turn_id: own };
}

/** Why a stop has changed nothing. */
export function stopProblem(required: unknown): string {
  return isStop(required)
    ? 'no turn with this turn_id runs or waits in this run'
    : `a stop has a turn_id and a level, one of ${STOP_LEVELS.join(', ')}`;
}
