/** The first state of a task, and which tasks it may wait for. */
import type { TaskState, TaskStatus } from './team-task.ts';
import { openStatus } from './lead-actions.ts';

export interface NewTaskFields extends Pick<TaskState, 'subject' | 'assignee' | 'priority'> {
  /** A person must open it before anybody may start. */
  readonly require_approval: boolean;
  /** The turn that creates it is over, or no turn does. */
  readonly released: boolean;
}

export function newTask(
  number: number,
  { require_approval, ...fields }: NewTaskFields,
  open_blockers: readonly number[],
): TaskState {
  return {
    ...fields,
    number,
    status: require_approval ? 'in_review' : openStatus({ open_blockers }),
    owner: null,
    lease: null,
    open_blockers,
    percent: 0,
    worked: false,
    dispatches: 0,
    expiries: 0,
    fence: 0,
    question: null,
    note: null,
    revision: 1,
  };
}

/** `found`: the numbers that the team has. Undefined when one of the numbers is not a task of the team. */
export function openBlockers(
  numbers: readonly number[],
  found: readonly { readonly number: number; readonly status: TaskStatus }[],
): readonly number[] | undefined {
  if (found.length < new Set(numbers).size) return undefined;
  return found
    .filter(({ status }) => status !== 'completed')
    .map(({ number }) => number)
    .toSorted((one, other) => one - other);
}

export const BLOCKER_WORDS = {
  unknown: 'blocked_by contains invalid task ID: no such task of this team',
  cycle: 'these tasks would wait for each other for ever (a cycle in blocked_by)',
} as const;
