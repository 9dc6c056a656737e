/** The result of a request to a task: a refusal, no change, or a new state. */
import type { FailureType } from '../errors.ts';
import type {
  LeadNotice,
  TaskActor,
  TaskChange,
  TaskLease,
  TaskRequest,
  TaskState,
  TaskTeam,
} from './team-task.ts';
import { TEAM_LIMITS } from './team.ts';

export type TaskDecision =
  | {
      readonly kind: 'refused';
      readonly type: Extract<FailureType, 'Conflict' | 'Forbidden' | 'InvalidInput'>;
      readonly message: string;
      readonly details?: Readonly<Record<string, unknown>>;
    }
  /** The task is already in this state, or can no longer change; not an error. */
  | { readonly kind: 'same'; readonly note: string }
  | { readonly kind: 'changed'; readonly change: TaskChange; readonly notices: readonly LeadNotice[] };

/** The input of a decision besides the request. */
export interface Moment {
  readonly task: TaskState;
  readonly team: TaskTeam;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Token for a lease, if there will be one. */
  readonly token: string;
}

/** How one action is decided. */
export type Rule = (moment: Moment, request: TaskRequest) => TaskDecision;

export function refused(
  type: Extract<TaskDecision, { kind: 'refused' }>['type'],
  message: string,
  details?: Readonly<Record<string, unknown>>,
): Extract<TaskDecision, { kind: 'refused' }> {
  return { kind: 'refused', type, message, details };
}

export function same(note: string): TaskDecision {
  return { kind: 'same', note };
}

/** The task with these fields and the next revision. When it moves elsewhere, nothing remains to be judged. */
export function changed(
  task: TaskState,
  fields: Partial<Omit<TaskState, 'revision' | 'number'>>,
  change: Omit<TaskChange, 'task'>,
  notices: readonly LeadNotice[] = [],
): TaskDecision {
  return {
    kind: 'changed',
    change: {
      ...change,
      task: {
        ...task,
        ...(task.judging && fields.status !== undefined ? { judging: null } : {}),
        ...fields,
        revision: task.revision + 1,
      },
    },
    notices,
  };
}

/** The text of a reason, a question or an answer, cut to what others read of it. */
export function reasonOf(text: TaskRequest['text']): string {
  return Array.from(text?.preview ?? text?.text ?? '')
    .slice(0, TEAM_LIMITS.reason)
    .join('');
}

/** A lease that is newer than all earlier ones. `until` is null when it lasts as long as the session's turn. */
export function leaseFor(
  { task, token }: Pick<Moment, 'task' | 'token'>,
  holder: Pick<TaskLease, 'member' | 'until' | 'session' | 'work'>,
): { readonly lease: TaskLease; readonly fence: number; readonly owner: string; readonly worked: true } {
  const fence = task.fence + 1;
  return { lease: { ...holder, token, fence }, fence, owner: holder.member, worked: true };
}

/** Every message of the holder proves that it is alive. */
export function heldLonger({ task, team, now }: Moment, seconds = team.lease_seconds): Partial<TaskState> {
  const { lease } = task;
  if (!lease || lease.until === null) return {};
  return { lease: { ...lease, until: Math.max(lease.until, now + seconds * 1000) } };
}

export function isLead({ team }: Pick<Moment, 'team'>, by: TaskActor): boolean {
  return by.member === undefined || by.member === team.lead;
}

export const LEAD_ONLY = 'only the team lead can perform this action';

/** Whether the sender holds the task now, proven by the lease's token or by the session that received the lease. */
export function isHolder({ task }: Pick<Moment, 'task'>, by: TaskActor): boolean {
  const { lease } = task;
  if (!lease || by.member !== lease.member) return false;
  if (by.work !== undefined && by.work !== lease.work) return false;
  if (by.token !== undefined) return by.token === lease.token;
  return (
    by.session !== undefined && by.session === lease.session && (by.fence ?? lease.fence) === lease.fence
  );
}

/** Whether the sender once held the task and no longer does. */
export function isLate({ task }: Pick<Moment, 'task'>, by: TaskActor): boolean {
  if (by.token !== undefined) return task.lease?.token !== by.token;
  return by.fence !== undefined && task.lease?.fence !== by.fence;
}

export function lateProblem(task: TaskState): TaskDecision {
  return refused(
    'Conflict',
    `this lease is over${task.lease ? `; ${task.lease.member} has the task now` : ''}: what comes late is refused`,
    { holder: task.lease?.member ?? null, status: task.status },
  );
}

/** A holder that did not prove it reads how to do that. */
export function notHolder({ task }: Pick<Moment, 'task'>, by: TaskActor, what: string): TaskDecision {
  const isUnproven = task.lease !== null && by.member === task.lease.member && by.token === undefined;
  return refused(
    'Forbidden',
    `only the task’s holder or the team lead can ${what}${isUnproven ? '; the holder sends the token that its claim gave' : ''}`,
    { holder: task.owner },
  );
}

/** Actions whose event has a name, a number or what was said as its reason. */
const OF_EVENT_ONLY: readonly TaskChange['action'][] = [
  'dispatch',
  'assign',
  'retry',
  'unblock',
  'progress',
  'ask_user',
  'clear_ask_user',
];

/** Whether the reason of the change says why the task is in its state. Of comments only a blocker does. */
export function isStatusReason({ action, text }: Pick<TaskChange, 'action' | 'text'>): boolean {
  return action === 'comment' ? text?.as === 'blocker' : !OF_EVENT_ONLY.includes(action);
}
