/** Texts about teams that models read: a member's task, reports to the lead, and TEAM.md (TE-1). */
import type { LeadNotice, TaskState, TaskStatus } from './team-task.ts';
import type { Team } from './team.ts';

/** A task as others read it. */
export interface DescribedTask {
  readonly number: number;
  readonly subject: string;
  readonly status: TaskStatus;
  readonly owner: string | null;
  readonly assignee: string | null;
  readonly result: string | null;
  readonly reason: string | null;
}

/** Characters of one result; action=get returns the whole. */
const RESULT_OF_ONE = 8_000;
/** Characters of all results in one message. */
const RESULTS = 60_000;

/** The message that gives a member its task; `needed` are the tasks that it waited for. */
export function taskMessage(
  team: Pick<Team, 'key' | 'lead'>,
  task: Pick<TaskState, 'number' | 'subject' | 'note'>,
  description: string,
  needed: readonly DescribedTask[],
): string {
  const parts = [`[Team task #${task.number} of team ${team.key}, from ${team.lead}] ${task.subject}`];
  parts.push(
    `Do this task now. Your last answer is its result and goes to ${team.lead}; you may instead call team_tasks with action=complete or action=review. Report progress with action=progress. If you cannot go on, use action=comment with type=blocker; if only the user can answer a question, use action=ask_user and end your turn.`,
  );
  if (needed.length > 0)
    parts.push(`Results that this task was waiting for:\n\n${needed.map((one) => block(one)).join('\n\n')}`);
  if (task.note !== null) parts.push(task.note);
  if (description !== '') parts.push(description);
  return parts.join('\n\n');
}

/** One message for a whole request: each result names its author. */
export function requestMessage(team: string, tasks: readonly DescribedTask[]): string {
  const max = Math.max(500, Math.min(RESULT_OF_ONE, Math.floor(RESULTS / Math.max(1, tasks.length))));
  return `[System Message] All ${tasks.length} task(s) of your request to team ${team} are closed:\n\n${tasks
    .map((one) => block(one, max))
    .join(
      '\n\n',
    )}\n\nTell the user what came of it, in your own words; leave out these notes. If more must be done, create further tasks.`;
}

const NOTICE_WORDS: Readonly<Record<LeadNotice, string>> = {
  failed: 'has failed',
  stale: 'is stale: its lease ran out too often. Assign it to somebody else, retry or cancel it',
  blocked: 'is blocked, and failed. Resolve it, then use action=retry or action=cancel',
  question: 'has a question for the user. Ask it, then use action=clear_ask_user with the answer as text',
  cancelled: 'was cancelled',
  completed: 'is completed',
  in_review: 'waits for your review: action=approve or action=reject',
};

export function noticeMessage(
  team: string,
  task: DescribedTask,
  notice: LeadNotice,
  question: string | undefined,
  waiting: readonly number[],
): string {
  const parts = [
    `[System Message] ${senderOf(task)} Task #${task.number} "${task.subject}" of team ${team} ${NOTICE_WORDS[notice]}.`,
  ];
  if (notice === 'question' && question) parts.push(`Question: ${question}`);
  else if (task.reason) parts.push(`Reason: ${task.reason}`);
  if (task.result && (notice === 'completed' || notice === 'in_review'))
    parts.push(cut(task.result, RESULT_OF_ONE));
  if (waiting.length > 0) parts.push(waitingWords(waiting));
  return parts.join('\n\n');
}

/** The tasks whose blocker will not complete. */
export function waitingWords(numbers: readonly number[]): string {
  return `These wait for it and stay blocked: ${numbers.map((n) => `#${n}`).join(', ')}.`;
}

/** For the owner of a task whose blocker will not complete. */
export function blockerEndedMessage(team: string, waiting: number, ended: DescribedTask): string {
  return `[System Message] Task #${ended.number} "${ended.subject}" of team ${team}, which task #${waiting} waits for, is ${ended.status}. #${waiting} stays blocked until its lead changes that.`;
}

/** Only the lead's prompt contains it. */
export function teamText(teams: readonly Team[]): string {
  const parts = teams.map(
    ({ key, name, description, members }) =>
      `## ${name ?? key} (team ${key})\n${description ? `${description}\n` : ''}Members: ${members.join(', ') || 'none yet'}`,
  );
  return `# TEAM.md\nYou lead ${teams.length === 1 ? 'this team' : 'these teams'}. Give work to members with team_tasks (action=create; look with action=list or action=search first). Say in each task all that its member needs to know: it sees nothing else. Members begin when your turn ends; all results reach you in one message marked teammate:, so do not wait or poll. You answer the user.\n\n${parts.join('\n\n')}`;
}

/** A hint for the lead when the text of one task contains several. */
export function compoundWarning(subject: string): string | undefined {
  // In capitals, `Y` is a name, as in "X and Y".
  const joints = subject.match(/\b(?:and|AND|then|THEN|und|et|y)\b|[;&]/g) ?? [];
  if (joints.length < 2) return undefined;
  return 'Warning: this subject names several things. Tasks of one thing each can be worked on by several members at once.';
}

function block(task: DescribedTask, max = RESULT_OF_ONE): string {
  const words =
    task.status === 'completed'
      ? (task.result ?? '(no result)')
      : `${task.status}${task.reason ? `: ${task.reason}` : ''}`;
  return `${senderOf(task)} #${task.number} "${task.subject}" [${task.status}]\n${cut(words, max)}`;
}

function senderOf({ owner, assignee }: DescribedTask): string {
  return `teammate:${owner ?? assignee ?? 'nobody'}`;
}

function cut(text: string, max: number): string {
  return text.length <= max
    ? text
    : `${text.slice(0, max).toWellFormed()}\n[cut; the whole: team_tasks with action=get]`;
}
