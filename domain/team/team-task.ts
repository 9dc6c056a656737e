/**
 * The contract of the `teamTask` workflow (TE-2 … TE-4): one run is one task, from its creation to its end.
 * `domain/team/decide-task.ts` decides each message; rows contain what the workflow has decided, for readers.
 */

import type { RefusedSignals } from '../approval/refused-signals.ts';
import type { RefusedRequest } from '../approval/approval.ts';
import type { Kept } from '../schema/scalars.ts';
import type { taskReceiptSchema } from '../schema/team-task.ts';
import type { ReturnedWork, TaskGates, TaskJudging } from './task-judging.ts';

/** Orders of a list: by number, or by priority and then number. */
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

/** A task in one of these states is finished; `retry` opens it again, unless it is completed. */
export const CLOSED: readonly TaskStatus[] = ['completed', 'failed', 'cancelled'];

export function isClosed(status: TaskStatus): boolean {
  return CLOSED.includes(status);
}

/** Filters of a list of tasks. */
export const TASK_FILTERS = ['active', 'all', ...TASK_STATUSES] as const;

/** Undefined means all of them. */
export function statusesOf(filter: (typeof TASK_FILTERS)[number]): readonly TaskStatus[] | undefined {
  if (filter === 'all') return undefined;
  return filter === 'active' ? TASK_STATUSES.filter((status) => !isClosed(status)) : [filter];
}

/** Actions on a task; each is an update of the same name. */
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

/** What can be sent again later, because it changes nothing about who has the task, or whether it is done. */
export const TASK_NOTES: ReadonlySet<TaskAction> = new Set(['progress', 'comment', 'attach', 'update']);

/** The tool that creates tasks in a turn. */
export const TEAM_TASKS_TOOL = 'team_tasks';

/** The tool that cancels a task whose creation is undone. Only an undo calls it. */
export const WITHDRAW_TASK = 'withdraw_task';

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

/** Who performs the action. The identity belongs to the credential: the API and the tools set this, never the model. */
export interface TaskActor {
  /** Name for the audit log: `agent:writer`, `user:ann`, `system`. */
  readonly name: string;
  /** The member of the team; absent for a person or a system that oversees it and has the lead's rights. */
  readonly member?: string;
  /** The session that sends the request, when it is one of ours; it is accepted in place of the lease's token. */
  readonly session?: string;
  /** Token of the lease that the sender believes to hold. */
  readonly token?: string;
  /** Fence of the lease that its session received; an older one is refused. */
  readonly fence?: number;
  /** Id of the delegated work that is this task. */
  readonly work?: string;
}

/** Text of a person or a model: its row's id with a scrubbed preview, or, from another client, the text itself. */
export interface TaskText {
  readonly id?: string;
  /** The text is at most 64 KB. */
  readonly text?: string;
  readonly preview?: string;
}

export const COMMENT_TYPES = ['note', 'blocker'] as const;
export type CommentType = (typeof COMMENT_TYPES)[number];

/**
 * One object for all actions; each uses its own fields. `domain/team/read-request.ts` reads the forms of other systems.
 */
export interface TaskRequest {
  readonly by: TaskActor;
  /** For claim and renew: 1 to 86,400. */
  readonly lease_seconds?: number;
  /** For complete the result, for comment its text, for reject and cancel the reason, for ask_user the question. */
  readonly text?: TaskText;
  readonly type?: CommentType;
  /** For progress: 0 to 100. */
  readonly percent?: number;
  readonly assignee?: string;
  /** For update. The text of the description is already in a row. */
  readonly subject?: string;
  readonly description_id?: string;
  readonly priority?: number;
  readonly blocked_by?: readonly number[];
  /** For attach: the id of the file's row. */
  readonly file_id?: string;
}

export interface TaskLease {
  readonly member: string;
  readonly token: string;
  /** Rises with each lease of the task. */
  readonly fence: number;
  /** Milliseconds since 1970. Null while one of our turns works on it: its end is detected without a time limit. */
  readonly until: number | null;
  readonly session: string | null;
  /** The delegated work that is this task. It hands in once: what gates give back, the member does in a turn. */
  readonly work?: string;
}

/** A question to the user that the task waits for. */
export interface TaskQuestion {
  readonly preview: string;
  readonly text_id: string | null;
  readonly since: number;
  readonly reminders: number;
}

/** Everything that the next decision needs. */
export interface TaskState {
  readonly number: number;
  readonly subject: string;
  readonly status: TaskStatus;
  /** The member that should do it. */
  readonly assignee: string | null;
  /** The member that holds it; a task in review keeps its worker's name. */
  readonly owner: string | null;
  readonly lease: TaskLease | null;
  /** Tasks that must be completed first and are not completed yet. */
  readonly open_blockers: readonly number[];
  readonly percent: number;
  readonly priority: number;
  /** Its creator's turn has ended, or no turn created it. */
  readonly released: boolean;
  /** Somebody has held it. */
  readonly worked: boolean;
  readonly dispatches: number;
  readonly expiries: number;
  /** Fence of the newest lease. */
  readonly fence: number;
  readonly question: TaskQuestion | null;
  /** Why the member has it again, for its next message. */
  readonly note: string | null;
  /** The submitted work that gates judge; absent before work was submitted. */
  readonly judging?: TaskJudging | null;
  readonly returned?: ReturnedWork | null;
  /** Rises with each change; the row has the same number. */
  readonly revision: number;
}

export interface TeamTaskInput {
  readonly tenant: string;
  readonly team: string;
  readonly number: number;
}

/** What a run knows about its team; read with the task. */
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

/** The lead is notified of these at once, and of other ends when all tasks of a request are closed. */
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
  /** The session of ours that sends the text or file. */
  readonly writer?: string;
  /** The lead learns of this end from its own delegation. */
  readonly is_known?: true;
  /** A turn whose answer is stored as the task's result. A request never sets it. */
  readonly result_of?: string;
  /** The work whose gates have led to this: the result includes their warnings, and the holder reads their feedback. */
  readonly judged?: string;
  /** The caller handles the answer `gated`. */
  readonly may_be_gated?: true;
  /** The cause: an update's id, or words that identify it. */
  readonly cause?: string;
  readonly notices?: readonly LeadNotice[];
}

/** The state of the rows, from the recorded revision on. */
export interface RecordedState {
  readonly task: TaskState;
  readonly changes: readonly {
    readonly revision: number;
    readonly cause: string | null;
    readonly notices: readonly LeadNotice[];
  }[];
  /** Tasks that wait for this one, when it is closed. */
  readonly dependents: readonly number[];
  /** It was the last open task of its request, so that its workflow notifies the lead. */
  readonly notifies_lead: boolean;
  /** Revision that closed it; 0 when it is not closed. */
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
  /** Its open blockers that are completed: their signals may have been lost. */
  readonly completed: readonly number[];
  /** No open turn created it. */
  readonly isOriginClosed: boolean;
  /** Refused signals of all its runs. */
  readonly signals?: RefusedSignals | null;
  /** State that this run has recorded before its worker died, and that Temporal does not know. */
  readonly lost?: RecordedState | null;
}

/** A member's turn on the task: the message's row is written; its session's workflow must be started. */
export interface MemberTurn {
  readonly session: string;
  readonly message_id: string;
  readonly preview: string;
  readonly agent: string;
  readonly user?: string;
}

/**
 * `turn` is present when the change is recorded and gave the task to a member. It is null when that agent no longer
 * exists.
 */
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
    input: Key & {
      readonly key: string;
      readonly refused: Omit<RefusedRequest, 'at'>;
      /** Number of signals that were refused before; the row may not know of all. */
      readonly before?: number;
    },
  ): Promise<RefusedSignals | undefined>;
  record_team_task(input: Key & { readonly change: TaskChange }): Promise<RecordResult>;
  /** Records a change, and when that gives the task to its member, also writes its message: one commit. */
  give_team_task(input: Key & { readonly change: TaskChange }): Promise<AssignedTask>;
  /** Null when the member's agent no longer exists. */
  prepare_member_turn(input: Key & { readonly task: TaskState }): Promise<MemberTurn | null>;
  /** Signals the tasks that wait for this one, and starts them if necessary. */
  notify_dependents(
    input: Key & { readonly numbers: readonly number[]; readonly status: TaskStatus },
  ): Promise<void>;
  wake_lead(
    input: Key & { readonly notice: LeadNotice | 'all_closed'; readonly revision: number },
  ): Promise<void>;
}
