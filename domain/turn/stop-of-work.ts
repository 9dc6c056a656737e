/** Stops of a session that works for somebody else: they stop all of it, and name the message that started the work. */
import { turnIdOf } from '../ids.ts';
import { isStop } from './submit-problem.ts';
import { type AgentTurnInput, STOP_LEVELS, type StopInput } from './turn.ts';

/** The reason of a stop by a time limit. */
export const TIME_UP = 'its time was up';

export function stopOfWork(
  messageId: string,
  { by = 'system', reason }: { readonly by?: string | undefined; readonly reason?: string | undefined },
): StopInput {
  return { level: 'all', turn_id: turnIdOf(messageId), by, reason };
}

/** Callers that end an assignment know only its first turn, and mean the turn that the session runs now. */
export function stopMeant({ assigned, carry }: AgentTurnInput, input: StopInput): StopInput {
  const own = (carry?.resume?.turn ?? carry?.queue[0])?.turnId;
  if (assigned === undefined || own === undefined || input?.turn_id !== assigned) return input;
  return { ...input, turn_id: own };
}

/** Says why a stop has changed nothing. */
export function stopProblem(required: unknown): string {
  return isStop(required)
    ? 'no turn with this turn_id runs or waits in this run'
    : `a stop has a turn_id and a level, one of ${STOP_LEVELS.join(', ')}`;
}
