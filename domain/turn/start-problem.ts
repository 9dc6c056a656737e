/**
 * Why a run cannot be what its id or its input says (docs/temporal-contract.md); undefined when it can. Every client of
 * Temporal can start workflows, and a run that is started wrongly must end with an error instead of failing its tasks
 * for ever.
 */
import { isName, isSessionKey, sessionWorkflowId } from '../ids.ts';
import { type Fields, isRecord, isWhole } from '../outside-value.ts';
import { taskWorkflowId } from '../team/team.ts';

/** A waiting run takes a place in a worker's cache. */
export const MAX_LINGER_SECONDS = 3600;

/** An id that is not a session's is not compared, because a replay may give its run any name. */
export function sessionStartProblem(input: unknown, workflowId: string): string | undefined {
  const { tenant, session_key, carry, linger_seconds } = fieldsOf(input);
  if (!isName(tenant) || !isSessionKey(session_key))
    return 'agentTurn is started with {"tenant", "session_key"}, the two parts of its id session/{tenant}/{session_key}';
  if (linger_seconds !== undefined && !(isWhole(linger_seconds) && linger_seconds <= MAX_LINGER_SECONDS))
    return `linger_seconds is a whole number from 1 to ${MAX_LINGER_SECONDS}`;
  if (!isCarry(carry)) return 'carry is what one run hands to the next; leave it out';
  return otherId(workflowId, 'session/', sessionWorkflowId(tenant, session_key));
}

/** Checks only the outline: what runs pass to each other is their own data. */
function isCarry(carry: unknown): boolean {
  if (carry === undefined) return true;
  const { queue = [], seen = [], dropped = [], resume } = fieldsOf(carry);
  const isContinued = resume === undefined || Array.isArray(fieldsOf(fieldsOf(resume)['turn'])['messages']);
  return isRecord(carry) && isContinued && [queue, seen, dropped].every(Array.isArray);
}

/** Like `sessionStartProblem`, for a team's task. */
export function taskStartProblem(input: unknown, workflowId: string): string | undefined {
  const { tenant, team, number } = fieldsOf(input);
  if (!isName(tenant) || !isName(team) || !isWhole(number))
    return 'teamTask is started with {"tenant", "team", "number"}, the parts of its id task/{tenant}.{team}/{number}';
  return otherId(workflowId, 'task/', taskWorkflowId(tenant, team, number));
}

/** For workflows that only TempoClaw starts: `texts` and `numbers` are the fields that they require. */
export function inputProblem(
  type: string,
  input: unknown,
  texts: readonly string[],
  numbers: readonly string[],
): string | undefined {
  const fields = fieldsOf(input);
  const missing = [
    ...texts.filter((name) => typeof fields[name] !== 'string'),
    ...numbers.filter((name) => !Number.isFinite(fields[name])),
  ];
  if (missing.length === 0) return undefined;
  return `${type} is started by TempoClaw itself; its input lacks ${missing.join(', ')}`;
}

function otherId(workflowId: string, prefix: string, id: string): string | undefined {
  if (!workflowId.startsWith(prefix) || workflowId === id) return undefined;
  return `this run is ${workflowId}, and its input is that of ${id}: start it with the parts of its own id`;
}

function fieldsOf(input: unknown): Fields {
  return isRecord(input) ? input : {};
}
