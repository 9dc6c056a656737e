/** Actions on a task that only the team's lead or an overseer may perform (TE-4). */
import { isClosed, type TaskState } from './team-task.ts';
import {
  changed,
  type TaskDecision,
  isHolder,
  isLead,
  LEAD_ONLY,
  reasonOf,
  refused,
  type Rule,
  same,
} from './decision.ts';

function byLead(rule: Rule): Rule {
  return (moment, request) =>
    isLead(moment, request.by) ? rule(moment, request) : refused('Forbidden', LEAD_ONLY);
}

/** Delegated work may also end the task that it is. */
function byLeadOrWork(rule: Rule): Rule {
  return (moment, request) =>
    moment.task.lease?.work !== undefined && isHolder(moment, request.by)
      ? rule(moment, request)
      : byLead(rule)(moment, request);
}

/** For finished work: completes it. For a task that nobody has worked on: opens it. */
export const approve = byLead(({ task, team }, { by, text }) => {
  if (task.status !== 'in_review')
    return refused('Conflict', 'failed to approve task: task not in review or not found', {
      status: task.status,
    });
  const approval = {
    action: 'approve' as const,
    actor: by.name,
    text: text && { ...text, as: 'note' as const },
  };
  if (!task.worked) return changed(task, { status: openStatus(task) }, { ...approval, reason: 'opened' });
  return changed(
    task,
    { status: 'completed', percent: 100 },
    { ...approval, reason: 'Task approved.' },
    team.notifies_each ? ['completed'] : [],
  );
});

/** Returns the task to its worker with the reason; a task without one ends. */
export const reject = byLead(({ task }, { by, text }) => {
  if (task.status !== 'in_review')
    return refused('Conflict', 'failed to reject task: task not in review or not found', {
      status: task.status,
    });
  const reason = `Task rejected. Reason: ${reasonOf(text) || 'none given'}`;
  const change = {
    action: 'reject' as const,
    actor: by.name,
    reason,
    text: text && { ...text, as: 'reason' as const },
  };
  if (task.owner === null) return changed(task, { status: 'cancelled', lease: null }, change, ['cancelled']);
  return changed(task, { status: 'pending', assignee: task.owner, owner: null, note: reason }, change);
});

export const assign = byLead(({ task, team }, { by, assignee }) => {
  if (assignee === undefined) return refused('InvalidInput', 'assignee is required');
  const problem = assigneeProblem(team, assignee);
  if (problem) return refused('InvalidInput', problem);
  if (isClosed(task.status)) return refused('Conflict', `the task is ${task.status}; retry opens it again`);
  if (task.assignee === assignee && task.status !== 'stale')
    return same(`It is assigned to ${assignee} already.`);
  return changed(
    task,
    {
      status: task.status === 'in_review' || task.status === 'blocked' ? task.status : openStatus(task),
      assignee,
      released: task.released || by.member === undefined,
      owner: null,
      lease: null,
      question: null,
    },
    { action: 'assign', actor: by.name, reason: assignee },
  );
});

/** Undefined when the task may be given to them; otherwise the reason. */
export function assigneeProblem(
  team: { readonly lead: string; readonly members: readonly string[] },
  assignee: string,
): string | undefined {
  if (assignee === team.lead) return 'team lead cannot assign tasks to itself';
  if (!team.members.includes(assignee)) return `agent "${assignee}" is not a member of this team`;
  return undefined;
}

/** Dependents stay blocked, because their blocker will not complete; their owners are notified. */
export const cancel = byLeadOrWork(({ task }, { by, text }) => {
  if (isClosed(task.status)) return same(`Task ${task.number} is ${task.status} already.`);
  return changed(
    task,
    { status: 'cancelled', lease: null, question: null },
    {
      action: 'cancel',
      actor: by.name,
      reason: reasonOf(text),
      text: text && { ...text, as: 'reason' as const },
    },
  );
});

/** The rows say whether the blockers exist and whether there is a cycle; `open_blockers` is set from their answer. */
export const updateTask = byLead(({ task }, { by, subject, description_id, priority, blocked_by }) => {
  const input = present({ subject, description_id, priority, blocked_by });
  if (Object.keys(input).length === 0)
    return refused('InvalidInput', 'nothing to update: give subject, description, priority or blocked_by');
  const problem = blocked_by && waitProblem(task, blocked_by);
  if (problem) return problem;
  return changed(
    task,
    {
      ...present({ subject, priority }),
      ...(blocked_by && { open_blockers: blocked_by, status: openStatus({ open_blockers: blocked_by }) }),
    },
    { action: 'update', actor: by.name, ...present({ subject, description_id, blocked_by }) },
  );
});

function waitProblem(task: TaskState, blockers: readonly number[]): TaskDecision | undefined {
  if (task.status !== 'pending' && task.status !== 'blocked')
    return refused('Conflict', `the task is ${task.status}; what it waits for can no longer be changed`);
  if (blockers.includes(task.number)) return refused('InvalidInput', 'a task cannot wait for itself');
  return undefined;
}

type Present<Fields> = { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> };

function present<Fields extends Record<string, unknown>>(fields: Fields): Present<Fields> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as Present<Fields>;
}

/** A fresh start: the failure counts are reset. */
export const retry = byLead(({ task, team }, { by, assignee }) => {
  const next = assignee ?? task.assignee ?? task.owner;
  if (next === team.lead) return refused('InvalidInput', 'cannot retry task assigned to the team lead');
  if (next !== null) {
    const problem = assigneeProblem(team, next);
    if (problem) return refused('InvalidInput', problem);
  }
  if (task.status !== 'failed' && task.status !== 'stale' && task.status !== 'cancelled')
    return refused(
      'Conflict',
      `the task is ${task.status}; only one that failed, is stale or was cancelled is retried`,
    );
  return changed(
    task,
    {
      status: openStatus(task),
      assignee: next,
      released: task.released || by.member === undefined,
      owner: null,
      lease: null,
      question: null,
      dispatches: 0,
      expiries: 0,
      percent: 0,
      returned: task.returned ? null : undefined,
    },
    { action: 'retry', actor: by.name, reason: next ?? undefined },
  );
});

export function openStatus({ open_blockers }: Pick<TaskState, 'open_blockers'>): 'blocked' | 'pending' {
  return open_blockers.length > 0 ? 'blocked' : 'pending';
}
