/**
 * The contract of the `teamTask` workflow (TE-2 … TE-4): one run is one task, from its creation to its end. Each message is
 * decided by `domain/team/decide-task.ts`; rows are what the workflow has decided, written for readers.
 */

import type { RefusedSignals } from './refused-signals.ts';
import type { RefusedRequest } from './approval.ts';
import type { Kept } from './schema/scalars.ts';
import type { taskReceiptSchema } from './schema/team-task.ts';
import type { ReturnedWork, TaskGates, TaskJudging } from './team/task-judging.ts';

/** Of a list: by number, or by priority and then number. */
export const TASK_ORDERS = ['newest', 'priority'] as const;
export type TaskOrder = (typeof TASK_ORDERS)[number];

export const TASK_STATUSES = [
  'pending',
  'in_progress',
  'in_review',
  'blocked',
  'completed',
  'failed',
  'cancelled',
  'stale',
] as const;
export type TaskStatus = (typeof TASK_STATUSES)[number];

/** Nothing more is expected of a task in one of these; `retry` opens it again, unless it is completed. */
export const CLOSED: readonly TaskStatus[] = ['completed', 'failed', 'cancelled'];

export function isClosed(status: TaskStatus): boolean {
  return CLOSED.includes(status);
}

/** What a list of tasks may be limited to. */
export const TASK_FILTERS = ['active', 'all', ...TASK_STATUSES] as const;

/** Undefined for all of them. */
export function statusesOf(filter: (typeof TASK_FILTERS)[number]): readonly TaskStatus[] | undefined {
  if (filter === 'all') return undefined;
  return filter === 'active' ? TASK_STATUSES.filter((status) => !isClosed(status)) : [filter];
}

/** What may be done to a task by an update of the same name. */
export const TASK_ACTIONS = [
  'claim',
  'renew',
  'release',
  'progress',
  'comment',
  'attach',
  'complete',
  'review',
  'approve',
  'reject',
  'assign',
  'cancel',
  'update',
  'ask_user',
  'clear_ask_user',
  'retry',
] as const;
export type TaskAction = (typeof TASK_ACTIONS)[number];

/** The tool that makes tasks in a turn. */
export const TEAM_TASKS_TOOL = 'team_tasks';

export const TEAM_TASK = {
  type: 'teamTask',
  /** `submitForReview` is another name for `review`. */
  updates: {
    ...(Object.fromEntries(TASK_ACTIONS.map((name) => [name, name])) as Record<TaskAction, string>),
    submitForReview: 'submitForReview',
  },
  signals: { released: 'released', dependencyDone: 'dependencyDone' },
  queries: { state: 'state' },
} as const;

/** Who does it. Identity is the credential's: the API and the tools fill this in, never the model. */
export interface TaskActor {
  /** For the audit: `agent:writer`, `user:ann`, `system`. */
  readonly name: string;
  /** As which member of the team; absent for a person or a system that oversees it and has the lead's rights. */
  readonly member?: string;
  /** The session that speaks, when it is one of ours: its word is as good as the lease's token. */
  readonly session?: string;
  /** Of the lease that it believes to hold. */
  readonly token?: string;
  /** The lease that its session was given; an older one is refused. */
  readonly fence?: number;
}

/** Text of a person or a model: its row's id with a scrubbed preview, or, from a foreign client, the text itself. */
export interface TaskText {
  readonly id?: string;
  /** At most 64 KB. */
  readonly text?: string;
  readonly preview?: string;
}

export const COMMENT_TYPES = ['note', 'blocker'] as const;
export type CommentType = (typeof COMMENT_TYPES)[number];

/** One object for all actions; each takes its own fields of it. Others say it as `domain/team/read-request.ts` reads it. */
export interface TaskRequest {
  readonly by: TaskActor;
  /** claim, renew: 1 to 86,400. */
  readonly lease_seconds?: number;
  /** complete: the result; comment: what is said; reject, cancel: the reason; ask_user: the question. */
  readonly text?: TaskText;
  readonly type?: CommentType;
  /** progress: 0 to 100. */
  readonly percent?: number;
  readonly assignee?: string;
  /** update. The description's text is a row already. */
  readonly subject?: string;
  readonly description_id?: string;
  readonly priority?: number;
  readonly blocked_by?: readonly number[];
  /** attach: the id of the file's row. */
  readonly file_id?: string;
}

export interface TaskLease {
  readonly member: string;
  readonly token: string;
  /** Rises with each lease of the task. */
  readonly fence: number;
  /** Milliseconds since 1970; null while a turn of ours works on it: then its end is noticed, whatever the clock says. */
  readonly until: number | null;
  readonly session: string | null;
}

/** A question to the user that the task waits for. */
export interface TaskQuestion {
  readonly preview: string;
  readonly text_id: string | null;
  readonly asked_at: number;
  readonly reminders: number;
}

/** All that the next decision needs. */
export interface TaskState {
  readonly number: number;
  readonly subject: string;
  readonly status: TaskStatus;
  /** Who is to do it. */
  readonly assignee: string | null;
  /** Who has it; a task in review still has its worker's name. */
  readonly owner: string | null;
  readonly lease: TaskLease | null;
  /** Tasks that must be completed first and are not yet. */
  readonly open_blockers: readonly number[];
  readonly percent: number;
  readonly priority: number;
  /** Its creator's turn has ended, or it was no turn's. */
  readonly released: boolean;
  /** Somebody has held it. */
  readonly worked: boolean;
  readonly dispatches: number;
  readonly expiries: number;
  /** Of the newest lease. */
  readonly fence: number;
  readonly question: TaskQuestion | null;
  /** Why the member has it again, for its next message. */
  readonly note: string | null;
  /** Gates judge what was handed in; not there before anything was. */
  readonly judging?: TaskJudging | null;
  readonly returned?: ReturnedWork | null;
  /** Rises with each change; the row has the same. */
  readonly revision: number;
}

export interface TeamTaskInput {
  readonly tenant: string;
  readonly team: string;
  readonly number: number;
}

/** What a run knows of its team; read with the task. */
export interface TaskTeam {
  readonly lead: string;
  readonly members: readonly string[];
  readonly lease_seconds: number;
  readonly escalates: boolean;
  readonly reminder_minutes: number;
  readonly reminders: number;
  readonly notifies_each: boolean;
}

/** The answer to every update. */
export type TaskReceipt = Omit<Kept<typeof taskReceiptSchema>, 'workflow_id'>;

export interface TaskView extends Omit<TaskReceipt, 'lease' | 'note'>, Partial<RefusedSignals> {
  readonly workflow_id: string;
  readonly session_workflow_id: string | null;
  readonly holder: string | null;
  readonly waiting_for: readonly number[];
}

// ---- activities -----------------------------------------------------------------------------------------------------

/** The lead hears of these at once; of ends in general when all of a request are closed. */
export type LeadNotice =
  | 'failed'
  | 'stale'
  | 'blocked'
  | 'question'
  | 'cancelled'
  | 'completed'
  | 'in_review';

export interface TaskChange {
  readonly task: TaskState;
  readonly action:
    | TaskAction
    | 'dispatch'
    | 'expire'
    | 'unblock'
    | 'fail'
    | 'released'
    | 'remind'
    | 'ended'
    | 'hand_in'
    | 'give_back';
  readonly actor: string;
  readonly reason?: string;
  readonly text?: TaskText & { readonly as: 'note' | 'blocker' | 'result' | 'reason' | 'question' };
  readonly blocked_by?: readonly number[];
  readonly subject?: string;
  readonly description_id?: string;
  readonly file_id?: string;
  /** A turn whose answer is kept as a text of the task, its result. Never what a request says. */
  readonly result_of?: string;
  /** The work whose gates have led to this: their warnings go with the result, their feedback to who has the task. */
  readonly judged?: string;
  /** Who asks takes `gated` for an answer. */
  readonly may_be_gated?: true;
  /** What asked for it: an update's id, else words that name it. */
  readonly cause?: string;
  readonly notices?: readonly LeadNotice[];
}

/** What the rows have, from the recorded revision on. */
export interface RecordedState {
  readonly task: TaskState;
  readonly changes: readonly {
    readonly revision: number;
    readonly cause: string | null;
    readonly notices: readonly LeadNotice[];
  }[];
  /** Tasks that wait for this one, when it is closed. */
  readonly dependents: readonly number[];
  /** It was the last open task of its request to be closed: this one tells the lead. */
  readonly notifies_lead: boolean;
  /** By which it is closed; 0 when it is not. */
  readonly closed_revision: number;
}

export interface RecordedChange extends RecordedState {
  readonly kind: 'recorded';
}

export type RecordResult =
  | RecordedChange
  | { readonly kind: 'refused'; readonly message: string }
  /** Nothing is recorded: these gates have to judge first. */
  | ({ readonly kind: 'gated' } & TaskGates);

export interface LoadedTask {
  readonly task: TaskState;
  readonly team: TaskTeam;
  /** Those of its open blockers that are completed: their signals may have been lost. */
  readonly completed: readonly number[];
  /** No turn is open that made it. */
  readonly over: boolean;
  /** Of all its runs. */
  readonly signals?: RefusedSignals | null;
  /** What this very run has recorded before its worker died, and Temporal does not know of. */
  readonly lost?: RecordedState | null;
}

/** A member's turn on the task: the message's row is written, its session's workflow is to be started. */
export interface MemberTurn {
  readonly session: string;
  readonly message_id: string;
  readonly preview: string;
  readonly agent: string;
  readonly user?: string;
}

/** `turn` is there when the change stands and gave the task to a member; null when that is no agent any more. */
export interface AssignedTask {
  readonly recorded: RecordResult;
  readonly turn?: MemberTurn | null;
}

type Key = TeamTaskInput;

export interface TeamTaskActivities {
  /** Undefined when there is no such row. */
  load_team_task(input: Key): Promise<LoadedTask | null>;
  /** Undefined when there is no such row. */
  note_refused_signal(
    input: Key & { readonly key: string; readonly refused: Omit<RefusedRequest, 'at'> },
  ): Promise<RefusedSignals | undefined>;
  record_team_task(input: Key & { readonly change: TaskChange }): Promise<RecordResult>;
  /** Records a change, and, when that gives the task to its member, also writes the message that says so: one commit. */
  give_team_task(input: Key & { readonly change: TaskChange }): Promise<AssignedTask>;
  /** Null when the member is no agent any more. */
  prepare_member_turn(input: Key & { readonly task: TaskState }): Promise<MemberTurn | null>;
  /** Signals the tasks that wait for this one, started when need be. */
  tell_dependents(
    input: Key & { readonly numbers: readonly number[]; readonly status: TaskStatus },
  ): Promise<void>;
  wake_lead(
    input: Key & { readonly notice: LeadNotice | 'all_closed'; readonly revision: number },
  ): Promise<void>;
}
