/** Reads another system's request to a task into the one shape that the rules use, or says what is wrong with it. */
import { type Fields, isRecord, isText, isWhole, withoutNulls } from '../outside-value.ts';
import { COMMENT_TYPES, type TaskRequest } from './team-task.ts';
import { TEAM_LIMITS } from './team.ts';

/**
 * Null counts as absent, and a text may be a plain string. It accepts only what `requestProblem` has accepted. It is
 * pure, so that a replay reads the same.
 */
export function readRequest(request: unknown): TaskRequest {
  const { by, text, ...rest } = withoutNulls(request as Fields);
  const words = readText(text);
  return {
    ...rest,
    by: withoutNulls(by as Fields),
    text: words,
  } as unknown as TaskRequest;
}

/** Undefined when it can be read; each action checks its own required fields. Never throws. */
export function requestProblem(requested: unknown): string | undefined {
  if (!isRecord(requested)) return 'ask with an object such as {"by":{"name":"ci"}}';
  const fields = withoutNulls(requested);
  return actorProblem(fields['by']) ?? wordsProblem(fields) ?? numbersProblem(fields);
}

function actorProblem(by: unknown): string | undefined {
  const { name, member, token, session, fence, work } = isRecord(by) ? withoutNulls(by) : {};
  if (!isText(name, 200) || name === '') return 'by.name is required: who asks';
  if (!isOptionalText(member, 200)) return 'by.member must be the key of a member';
  if (!isOptionalText(token, 200)) return 'by.token must be the text that claim gave';
  if (!isOptionalText(session, 300) || !(fence === undefined || isWhole(fence)))
    return 'by.session and by.fence are for sessions of our own';
  if (!isOptionalText(work, 200)) return 'by.work is for work of our own';
  return undefined;
}

function wordsProblem(fields: Fields): string | undefined {
  const { text, type, subject, assignee } = fields;
  const { text: message, id, preview } = isRecord(text) ? withoutNulls(text) : { text };
  if (![message, id, preview].every((one) => isOptionalText(one, TEAM_LIMITS.text)))
    return `text must be a string of at most ${TEAM_LIMITS.text} characters`;
  if (type !== undefined && !COMMENT_TYPES.some((known) => known === type))
    return `type must be one of ${COMMENT_TYPES.join(', ')}`;
  if (subject !== undefined && !(isText(subject, TEAM_LIMITS.subject) && subject.trim() !== ''))
    return `subject must be a text of 1 to ${TEAM_LIMITS.subject} characters`;
  if (!isOptionalText(assignee, 200)) return 'assignee must be the key of a member';
  const id_ = ['description_id', 'file_id'].find((name) => !isOptionalText(fields[name], 200));
  return id_ && `${id_} must be the id of a row`;
}

function numbersProblem({ percent, priority, blocked_by, lease_seconds }: Fields): string | undefined {
  if (percent !== undefined && !(typeof percent === 'number' && percent >= 0 && percent <= 100))
    return 'percent must be a number of 0 to 100';
  if (priority !== undefined && !(Number.isSafeInteger(priority) && Math.abs(priority as number) <= 1_000))
    return 'priority must be a whole number of -1000 to 1000';
  const isList = Array.isArray(blocked_by) && blocked_by.length <= TEAM_LIMITS.blockers;
  if (blocked_by !== undefined && !(isList && blocked_by.every(isWhole)))
    return `blocked_by must be at most ${TEAM_LIMITS.blockers} numbers of tasks`;
  if (
    lease_seconds !== undefined &&
    !(isWhole(lease_seconds) && lease_seconds <= TEAM_LIMITS.longestLeaseSeconds)
  )
    return `lease_seconds must be 1 to ${TEAM_LIMITS.longestLeaseSeconds}`;
  return undefined;
}

function readText(value: unknown): TaskRequest['text'] | undefined {
  const words =
    typeof value === 'string' ? { text: value } : isRecord(value) ? withoutNulls(value) : undefined;
  const text = words?.['text'];
  return words?.['id'] || (typeof text === 'string' && text.trim() !== '') ? words : undefined;
}

function isOptionalText(value: unknown, max: number): boolean {
  return value === undefined || isText(value, max);
}
