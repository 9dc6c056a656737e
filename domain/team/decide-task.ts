/**
 * The rules of a team's task (TE-2 … TE-4). They are pure, so that the workflow decides by them, a validator refuses by
 * them and a replay gets the same result.
 */
import { TEAM_LIMITS } from './team.ts';
import { isClosed, type TaskAction, type TaskActor, type TaskRequest, type TaskState } from './team-task.ts';
import {
  changed,
  type TaskDecision,
  heldLonger,
  isHolder,
  isLate,
  isLead,
  lateProblem,
  leaseFor,
  type Moment,
  notHolder,
  reasonOf,
  refused,
  type Rule,
  same,
} from './decision.ts';
import { approve, assign, cancel, reject, retry, updateTask } from './lead-actions.ts';

const RULES: Readonly<Record<TaskAction, Rule>> = {
  claim,
  renew,
  release,
  progress,
  comment,
  attach,
  complete,
  review,
  approve,
  reject,
  assign,
  cancel,
  update: updateTask,
  ask_user: askUser,
  clear_ask_user: clearAskUser,
  retry,
};

/** Never throws; uses no I/O. */
export function decideTask(moment: Moment, action: TaskAction, request: TaskRequest): TaskDecision {
  const { by } = request;
  const { team } = moment;
  if (by.member !== undefined && by.member !== team.lead && !team.members.includes(by.member))
    return refused('Forbidden', `agent "${by.member}" is not a member of this team`);
  const decision = RULES[action](moment, request);
  if (decision.kind !== 'changed') return decision;
  const writer = writerOf(request);
  return {
    ...decision,
    change: {
      ...decision.change,
      ...(writer !== undefined && { writer }),
      ...(isOwnWork(moment, by) && { is_known: true }),
    },
  };
}

/** The session of ours whose text its readers read. */
function writerOf({ by, text, subject, description_id, file_id }: TaskRequest): string | undefined {
  return (text ?? subject ?? description_id ?? file_id) === undefined ? undefined : by.session;
}

/** Whether delegated work ends the task, by itself or by a call of its agent. */
function isOwnWork(moment: Moment, by: TaskActor): boolean {
  return moment.task.lease?.work !== undefined && isHolder(moment, by);
}

function claim(moment: Moment, { by, lease_seconds }: TaskRequest): TaskDecision {
  const { task, team, now } = moment;
  const { member } = by;
  if (member === undefined) return refused('InvalidInput', 'member is required to claim a task');
  if (member === team.lead) return refused('Forbidden', 'team lead cannot assign tasks to itself');
  if (by.work !== undefined && task.lease?.work === by.work) return same('It has the task.');
  const problem = claimProblem(task, member);
  if (problem) return problem;
  const seconds = lease_seconds ?? team.lease_seconds;
  const work = by.work === undefined ? {} : { work: by.work };
  const until = now + (seconds + (by.work === undefined ? 0 : TEAM_LIMITS.lateSeconds)) * 1000;
  return changed(
    task,
    { status: 'in_progress', ...leaseFor(moment, { member, until, session: by.session ?? null, ...work }) },
    { action: 'claim', actor: by.name },
  );
}

/** Says why the member cannot have it, with the holder's name. It needs only the row. */
export function claimProblem(
  task: TaskState,
  member: string,
): Extract<TaskDecision, { kind: 'refused' }> | undefined {
  const holder = task.lease?.member ?? task.owner;
  if (task.status !== 'pending' || task.lease)
    return refused(
      'Conflict',
      `failed to claim task: task not available for claiming (already claimed or not pending): ${task.lease ? `${holder} holds it` : `it is ${task.status}`}`,
      { holder, status: task.status },
    );
  if (task.assignee !== null && task.assignee !== member)
    return refused('Conflict', `failed to claim task: it is assigned to ${task.assignee}`, {
      holder: task.assignee,
      status: task.status,
    });
  return undefined;
}

function renew(moment: Moment, { by, lease_seconds }: TaskRequest): TaskDecision {
  const { task } = moment;
  if (!task.lease || !isHolder(moment, by)) return lateProblem(task);
  if (task.lease.until === null) return same('its turn is running; nothing has to be renewed');
  return changed(task, heldLonger(moment, lease_seconds), { action: 'renew', actor: by.name });
}

function release(moment: Moment, { by, text }: TaskRequest): TaskDecision {
  const { task } = moment;
  if (task.status !== 'in_progress')
    return same(`Task ${task.number} is ${task.status}; there is nothing to release.`);
  if (!isHolder(moment, by) && !isLead(moment, by))
    return isLate(moment, by) ? lateProblem(task) : notHolder(moment, by, 'release it');
  return changed(
    task,
    { status: 'pending', lease: null, owner: null, assignee: null, question: null },
    { action: 'release', actor: by.name, reason: text && reasonOf(text) },
  );
}

/** TE-4: a smaller number than before is not an error and changes nothing. */
function progress(moment: Moment, { by, percent, text }: TaskRequest): TaskDecision {
  const { task } = moment;
  if (percent === undefined || !(percent >= 0 && percent <= 100))
    return refused('InvalidInput', 'percent must be 0 to 100');
  if (isLate(moment, by)) return lateProblem(task);
  if (task.status !== 'in_progress')
    return refused('Conflict', `the task is ${task.status}, not in progress`);
  if (!isHolder(moment, by) && !isLead(moment, by)) return notHolder(moment, by, 'update its progress');
  if (percent <= task.percent && !text) return same(`Progress is ${task.percent}% and does not go back.`);
  const reached = Math.max(task.percent, Math.floor(percent));
  return changed(
    task,
    { percent: reached, ...heldLonger(moment) },
    {
      action: 'progress',
      actor: by.name,
      reason: [`${reached}%`, reasonOf(text)].filter((part) => part !== '').join(': '),
      text: text ? { ...text, as: 'note' } : undefined,
    },
  );
}

/** A blocker fails the task immediately; its member is stopped and the lead is notified (TE-4). */
function comment(moment: Moment, { by, text, type }: TaskRequest): TaskDecision {
  const { task, team } = moment;
  if (!text) return refused('InvalidInput', 'text is required for comment action');
  if (type !== 'blocker')
    return changed(task, isHolder(moment, by) ? heldLonger(moment) : {}, {
      action: 'comment',
      actor: by.name,
      reason: reasonOf(text),
      text: { ...text, as: 'note' },
    });
  if (isLate(moment, by)) return lateProblem(task);
  if (isClosed(task.status))
    return refused('Conflict', `the task is ${task.status}; a blocker changes nothing`);
  if (!isLead(moment, by) && !isHolder(moment, by) && task.assignee !== by.member)
    return notHolder(moment, by, 'report a blocker');
  return changed(
    task,
    { status: 'failed', lease: null, question: null },
    { action: 'comment', actor: by.name, reason: reasonOf(text), text: { ...text, as: 'blocker' } },
    team.escalates ? ['blocked'] : [],
  );
}

function attach(moment: Moment, { by, file_id }: TaskRequest): TaskDecision {
  if (file_id === undefined) return refused('InvalidInput', 'path is required for attach action');
  return changed(moment.task, isHolder(moment, by) ? heldLonger(moment) : {}, {
    action: 'attach',
    actor: by.name,
    file_id,
  });
}

/** A member that completes a task without a holder claims it first, so that it had a holder. */
function complete(moment: Moment, { by, text }: TaskRequest): TaskDecision {
  const { task, team } = moment;
  if (task.status === 'completed') return same(`Task ${task.number} already completed.`);
  if (task.status === 'cancelled' || task.status === 'failed')
    return same(`Task ${task.number} is ${task.status}: cannot complete.`);
  if (isLate(moment, by)) return lateProblem(task);
  if (task.status === 'blocked')
    return refused(
      'Conflict',
      `the task waits for ${numbers(task.open_blockers)}; it cannot be completed before`,
    );
  if (!isLead(moment, by) && !isHolder(moment, by) && !mayTake(task, by.member))
    return notHolder(moment, by, 'complete it');
  if (task.judging) return same(JUDGED_NOW);
  const owner = task.owner ?? (by.member === team.lead ? null : (by.member ?? null));
  return changed(
    task,
    { status: 'completed', percent: 100, owner, worked: true, lease: null, question: null },
    { action: 'complete', actor: by.name, text: text ? { ...text, as: 'result' } : undefined },
    team.notifies_each ? ['completed'] : [],
  );
}

/** DE-6 requires it. */
export const JUDGED_NOW = 'What was handed in is judged by quality gates now.';

function mayTake(task: TaskState, member: string | undefined): boolean {
  return task.status === 'pending' && !task.lease && (task.assignee === null || task.assignee === member);
}

function review(moment: Moment, { by, text }: TaskRequest): TaskDecision {
  const { task } = moment;
  if (isLate(moment, by)) return lateProblem(task);
  if (!isHolder(moment, by)) return refused('Forbidden', 'only the task owner can submit for review');
  if (task.status !== 'in_progress')
    return refused('Conflict', `the task is ${task.status}, not in progress`);
  if (task.judging) return same(JUDGED_NOW);
  return changed(
    task,
    { status: 'in_review', lease: null, question: null },
    { action: 'review', actor: by.name, text: text ? { ...text, as: 'result' } : undefined },
    ['in_review'],
  );
}

/** The task keeps its holder, and no time limit runs until the user answers. */
function askUser(moment: Moment, { by, text }: TaskRequest): TaskDecision {
  const { task, now } = moment;
  if (!text) return refused('InvalidInput', 'text is required for ask_user action');
  if (isLate(moment, by)) return lateProblem(task);
  if (task.status !== 'in_progress')
    return refused('Conflict', `the task is ${task.status}, not in progress`);
  if (!isHolder(moment, by) && !isLead(moment, by)) return notHolder(moment, by, 'ask the user');
  if (task.judging) return refused('Conflict', JUDGED_NOW);
  const question = {
    preview: reasonOf(text),
    text_id: text.id ?? null,
    since: now,
    reminders: 0,
  };
  return changed(
    task,
    { question },
    { action: 'ask_user', actor: by.name, reason: question.preview, text: { ...text, as: 'question' } },
    ['question'],
  );
}

/** A member whose turn has ended meanwhile gets the task again, with the answer; that is not a failed dispatch. */
function clearAskUser(moment: Moment, { by, text }: TaskRequest): TaskDecision {
  const { task } = moment;
  if (!task.question) return same('No question waits.');
  if (!isHolder(moment, by) && !isLead(moment, by)) return notHolder(moment, by, 'do this');
  const answer = reasonOf(text);
  const again: Partial<TaskState> = task.lease
    ? heldLonger(moment)
    : { status: 'pending', assignee: task.owner, owner: null, dispatches: Math.max(0, task.dispatches - 1) };
  return changed(
    task,
    { question: null, note: answer === '' ? undefined : `The user’s answer: ${answer}`, ...again },
    {
      action: 'clear_ask_user',
      actor: by.name,
      reason: answer === '' ? undefined : answer,
      text: text ? { ...text, as: 'note' } : undefined,
    },
  );
}

function numbers(list: readonly number[]): string {
  return list.map((number) => `#${number}`).join(', ');
}
