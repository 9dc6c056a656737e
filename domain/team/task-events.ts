/** Changes of a task without a request: by time, and by the ends of other tasks and of its member's turn. */
import { isClosed, type TaskState } from './team-task.ts';
import { TEAM_LIMITS, taskSessionKey } from './team.ts';
import { changed, type TaskDecision, leaseFor, type Moment, same } from './decision.ts';
import { openStatus } from './lead-actions.ts';

/** Whether its member has to be started now. */
export function isDue(task: TaskState): boolean {
  return task.status === 'pending' && task.released && task.assignee !== null && task.lease === null;
}

/** Gives it to its member, at most TEAM_LIMITS.dispatches times. */
export function dispatch(moment: Moment, team: string): TaskDecision {
  const { task } = moment;
  const { assignee } = task;
  if (assignee === null || !isDue(task)) return same('not due');
  if (task.dispatches >= TEAM_LIMITS.dispatches) {
    const reason = `Task auto-failed after ${task.dispatches} dispatch attempts`;
    return changed(
      task,
      { status: 'failed', owner: null },
      { action: 'fail', actor: 'system', reason, text: { text: reason, as: 'result' } },
      ['failed'],
    );
  }
  const session = taskSessionKey(team, task.number, assignee);
  return changed(
    task,
    {
      status: 'in_progress',
      dispatches: task.dispatches + 1,
      ...leaseFor(moment, { member: assignee, until: null, session }),
    },
    { action: 'dispatch', actor: 'system', reason: assignee },
  );
}

/** Milliseconds since 1970 when the task must be checked; undefined when no time limit runs. */
export function nextAlarm({ task, team }: Pick<Moment, 'task' | 'team'>): number | undefined {
  const { question, lease, judging } = task;
  if (judging) return undefined;
  if (question)
    return question.reminders < team.reminders
      ? question.since + (question.reminders + 1) * team.reminder_minutes * 60_000
      : undefined;
  return lease?.until ?? undefined;
}

/** Called when `nextAlarm` is reached. */
export function ring(moment: Moment): TaskDecision {
  const { task, now } = moment;
  const due = nextAlarm(moment);
  if (due === undefined || due > now) return same('not yet');
  if (task.question)
    return changed(
      task,
      { question: { ...task.question, reminders: task.question.reminders + 1 } },
      { action: 'remind', actor: 'system' },
      ['question'],
    );
  return expire(task, `the lease of ${task.lease?.member ?? 'its holder'} ran out`);
}

/** TE-3: the task goes back to the board. After the third time it is stale and the lead decides. */
export function expire(task: TaskState, reason: string): TaskDecision {
  const expiries = task.expiries + 1;
  const isStale = expiries >= TEAM_LIMITS.expiries;
  return changed(
    task,
    { status: isStale ? 'stale' : 'pending', lease: null, owner: null, question: null, expiries },
    { action: 'expire', actor: 'system', reason },
    isStale ? ['stale'] : [],
  );
}

/** Only a completed task unblocks those that wait for it. */
export function dependencyEnded(task: TaskState, number: number, completed: boolean): TaskDecision {
  if (!completed || !task.open_blockers.includes(number)) return same('it does not wait for that');
  const open_blockers = task.open_blockers.filter((one) => one !== number);
  return changed(
    task,
    { open_blockers, status: task.status === 'blocked' ? openStatus({ open_blockers }) : task.status },
    { action: 'unblock', actor: 'system', reason: `#${number}` },
  );
}

function release(task: TaskState): TaskDecision {
  if (task.released) return same('released already');
  return changed(task, { released: true }, { action: 'released', actor: 'system' });
}

/** The turn that created it has ended. In the same change its member gets it, if it is due. */
export function releaseAndDispatch(moment: Moment, team: string): TaskDecision {
  const released = release(moment.task);
  if (released.kind !== 'changed') return released;
  const decision = dispatch({ ...moment, task: { ...moment.task, released: true } }, team);
  return decision.kind === 'changed' ? decision : released;
}

/** A run that starts finds a turn's lease without the turn: the earlier run was ended from outside. */
export function lostTurn(task: TaskState): TaskDecision {
  if (!task.lease || task.lease.until !== null || isClosed(task.status)) return same('no turn is missing');
  return expire(task, 'its workflow was ended from outside');
}

export interface MemberTurnEnd {
  readonly fence: number;
  readonly status: 'completed' | 'failed' | 'stopped' | 'lost';
  readonly reason: string;
  /** The turn whose answer is the result. */
  readonly result_of?: string;
}

/**
 * The member's turn is over. An answer is the result; a question is waited for. A lost turn returns the task; one that
 * failed or was stopped fails it.
 */
export function turnEnded(moment: Moment, end: MemberTurnEnd): TaskDecision {
  const { task, team } = moment;
  if (task.lease?.fence !== end.fence || isClosed(task.status)) return same('it has moved on');
  if (task.question)
    return changed(task, { lease: null }, { action: 'ended', actor: 'system', reason: 'waits for the user' });
  switch (end.status) {
    case 'completed':
      return changed(
        task,
        { status: 'completed', percent: 100, lease: null },
        {
          action: 'ended',
          actor: `agent:${task.lease.member}`,
          result_of: end.result_of,
        },
        team.notifies_each ? ['completed'] : [],
      );
    case 'lost':
      return expire(task, end.reason);
    default:
      return changed(
        task,
        { status: 'failed', lease: null },
        { action: 'fail', actor: 'system', reason: end.reason },
        ['failed'],
      );
  }
}
