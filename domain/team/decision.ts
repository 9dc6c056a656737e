/** What comes of something that is asked of a task: a refusal, nothing, or a new state. */
import type { FailureType } from '../errors.ts';
import type {
  LeadNotice,
  TaskActor,
  TaskChange,
  TaskLease,
  TaskRequest,
  TaskState,
  TaskTeam,
} from '../team-task.ts';
import { TEAM_LIMITS } from '../team.ts';

export type TaskDecision =
  | {
      readonly kind: 'refused';
      readonly type: Extract<FailureType, 'Conflict' | 'Forbidden' | 'InvalidInput'>;
      readonly message: string;
      readonly details?: Readonly<Record<string, unknown>>;
    }
  /** It is so already, or can no longer be; no error. */
  | { readonly kind: 'same'; readonly note: string }
  | { readonly kind: 'changed'; readonly change: TaskChange; readonly notices: readonly LeadNotice[] };

/** What a decision is made of, beside what is asked. */
export interface Moment {
  readonly task: TaskState;
  readonly team: TaskTeam;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** For a lease, should there be one. */
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

/** The task with these fields, one revision on. Where it goes somewhere else, nothing is left to be judged. */
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

/** What a reason, a question or an answer says, in as many characters as others are told of it. */
export function reasonOf(text: TaskRequest['text']): string {
  return Array.from(text?.preview ?? text?.text ?? '')
    .slice(0, TEAM_LIMITS.reason)
    .join('');
}

/** A lease that is newer than all before it. `until` null: for as long as the session's turn lasts. */
export function leaseFor(
  { task, token }: Pick<Moment, 'task' | 'token'>,
  member: string,
  until: number | null,
  session: string | null,
): { readonly lease: TaskLease; readonly fence: number; readonly owner: string; readonly worked: true } {
  const fence = task.fence + 1;
  return { lease: { member, token, fence, until, session }, fence, owner: member, worked: true };
}

/** Every word of the holder says that it lives. */
export function heldLonger({ task, team, now }: Moment, seconds = team.lease_seconds): Partial<TaskState> {
  const { lease } = task;
  if (!lease || lease.until === null) return {};
  return { lease: { ...lease, until: Math.max(lease.until, now + seconds * 1000) } };
}

export function isLead({ team }: Pick<Moment, 'team'>, by: TaskActor): boolean {
  return by.member === undefined || by.member === team.lead;
}

export const LEAD_ONLY = 'only the team lead can perform this action';

/** The one that has the task now, proven by the lease's token or by the session that the lease was given to. */
export function isHolder({ task }: Pick<Moment, 'task'>, by: TaskActor): boolean {
  const { lease } = task;
  if (!lease || by.member !== lease.member) return false;
  if (by.token !== undefined) return by.token === lease.token;
  return (
    by.session !== undefined && by.session === lease.session && (by.fence ?? lease.fence) === lease.fence
  );
}

/** A lease that was its own once, and is no longer. */
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

/** Who holds the task and did not prove it is told how. */
export function notHolder({ task }: Pick<Moment, 'task'>, by: TaskActor, what: string): TaskDecision {
  const isUnproven = task.lease !== null && by.member === task.lease.member && by.token === undefined;
  return refused(
    'Forbidden',
    `only the task’s holder or the team lead can ${what}${isUnproven ? '; the holder sends the token that its claim gave' : ''}`,
    { holder: task.owner },
  );
}
