/** Stops of a session that works for somebody else: they stop all of it, and name the message that started the work. */
import type { StopAssignmentInput } from '../assignment/assignment.ts';
import { turnIdOf } from '../ids.ts';
import { isRecord } from '../outside-value.ts';
import { storableText } from '../text/storable-text.ts';
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

/** Characters kept of who stops something, and why. */
const MAX_WORDS = { by: 200, reason: 500 };

interface StopWords {
  readonly by?: string;
  readonly reason?: string;
}

/** Who stops something, and why, as a row can store it: a stop counts, whatever else its sender writes. */
export function stopWords(payload: unknown): StopWords {
  const { by, reason } = isRecord(payload) ? payload : {};
  return { ...plainWord('by', by), ...plainWord('reason', reason) };
}

function plainWord(name: keyof StopWords, value: unknown): StopWords {
  if (typeof value !== 'string' || value === '') return {};
  return { [name]: storableText(value.slice(0, MAX_WORDS[name])) };
}

/** Any payload stops an assignment, also none. */
export function readAssignmentStop(payload: unknown): StopAssignmentInput {
  return { ...stopWords(payload), ...(isRecord(payload) && payload['silent'] === true && { silent: true }) };
}

/** Only the fields of a stop, because one run hands it to the next. */
function readStop(payload: StopInput): StopInput {
  if (!isRecord(payload)) return payload;
  const { level, turn_id, interrupt } = payload;
  return { level, turn_id, ...stopWords(payload), ...(interrupt === true && { interrupt }) };
}

/** Callers that end an assignment know only its first turn, and mean the turn that the session runs now. */
export function stopMeant({ assigned, carry }: AgentTurnInput, payload: StopInput): StopInput {
  const stop = readStop(payload);
  const own = (carry?.resume?.turn ?? carry?.queue[0])?.turnId;
  if (assigned === undefined || own === undefined || stop?.turn_id !== assigned) return stop;
  return { ...stop, turn_id: own };
}

/** Says why a stop has changed nothing. */
export function stopProblem(required: unknown): string {
  return isStop(required)
    ? 'no turn with this turn_id runs or waits in this run'
    : `a stop has a turn_id and a level, one of ${STOP_LEVELS.join(', ')}`;
}
