/** The task as a run of its workflow knows it, and the only way to change it: decide, record, apply. */
import { ApplicationFailure, CancellationScope, proxyLocalActivities, uuid4 } from '@temporalio/workflow';
import { type TaskDecision, type Moment, refused } from '#domain/team/decision.ts';
import { judgeHandIn, mayBeGated } from '#domain/team/judge-task.ts';
import type { TaskGates } from '#domain/team/task-judging.ts';
import type {
  LeadNotice,
  RecordResult,
  RecordedState,
  TaskChange,
  TaskState,
  TaskStatus,
  TaskTeam,
  TeamTaskActivities,
  TeamTaskInput,
} from '#domain/team/team-task.ts';
import { RECORD } from '../../activity-options.ts';
import { oneAtATime } from '../../../domain/async/one-at-a-time.ts';

const local = proxyLocalActivities<Pick<TeamTaskActivities, 'record_team_task'>>(RECORD);

/** What to notify, in this order, after the change that causes it is recorded. */
export type Notification =
  | { readonly kind: 'dependents'; readonly numbers: readonly number[]; readonly status: TaskStatus }
  | { readonly kind: 'lead'; readonly notice: LeadNotice | 'all_closed'; readonly revision: number };

/** `loaded` is present when the row has been read; its task is the newest that the rows are known to have. */
export interface KnownTask {
  readonly input: TeamTaskInput;
  readonly inTurn: ReturnType<typeof oneAtATime>;
  readonly pending: Notification[];
  /** Requests whose changes are in the rows: they are not decided again. */
  readonly recordedRequests: Set<string>;
  loaded?: { task: TaskState; readonly team: TaskTeam };
}

export function newTask(input: TeamTaskInput): KnownTask {
  return { input, inTurn: oneAtATime(), pending: [], recordedRequests: new Set() };
}

/**
 * Decides and records, one change after the other; notifications are left to the main function. A worker may have died
 * after changes were recorded and before Temporal knew; updates then come again, in any order. The state in the rows is
 * applied, and requests are decided again on it. Undefined when the rows already contain the request's own change. Work
 * that gates must judge first is submitted instead.
 * `record` is for a caller that writes more with the change.
 */
export function apply(
  known: KnownTask,
  decide: (moment: Moment) => TaskDecision,
  request?: string,
  record: (input: TeamTaskInput & { readonly change: TaskChange }) => Promise<RecordResult> = (input) =>
    local.record_team_task(input),
): Promise<TaskDecision | undefined> {
  return known.inTurn(async () => {
    for (let gates: TaskGates | undefined; ; ) {
      if (request !== undefined && known.recordedRequests.has(request)) return undefined;
      const moment = momentOf(known, uuid4());
      const decision = decideAtGates(moment, decide, gates, known.input.team);
      if (decision.kind !== 'changed') return decision;
      const { change, notices } = decision;
      const cause = request ?? `${change.action} ${change.reason ?? ''}`;
      const gated = mayBeGated(moment, change) ? { may_be_gated: true as const } : {};
      const recorded = await CancellationScope.nonCancellable(() =>
        record({ ...known.input, change: { ...change, ...gated, cause, notices } }),
      );
      if (recorded.kind === 'refused') return refused('InvalidInput', recorded.message);
      gates = recorded.kind === 'gated' ? recorded : undefined;
      if (recorded.kind === 'gated') continue;
      takeUp(known, recorded);
      if (recorded.changes.some((recordedRequests) => recordedRequests.cause === cause)) return decision;
    }
  });
}

function decideAtGates(
  moment: Moment,
  decide: (moment: Moment) => TaskDecision,
  gates: TaskGates | undefined,
  team: string,
): TaskDecision {
  const decision = decide(moment);
  return gates && decision.kind === 'changed' ? judgeHandIn(moment, decision.change, gates, team) : decision;
}

/** Earlier notifications are repeated under the same ids. */
export function takeUp(
  known: KnownTask,
  { task, changes, dependents, notifies_lead: sourceSession, closed_revision: closed }: RecordedState,
): void {
  loadedOf(known).task = task;
  if (dependents.length > 0)
    known.pending.push({ kind: 'dependents', numbers: dependents, status: task.status });
  if (sourceSession) known.pending.push({ kind: 'lead', notice: 'all_closed', revision: closed });
  for (const { revision, cause, notices } of changes) {
    if (cause !== null) known.recordedRequests.add(cause);
    if (!sourceSession) for (const notice of notices) known.pending.push({ kind: 'lead', notice, revision });
  }
}

/** `token` is for a lease, if there will be one. */
export function momentOf(known: KnownTask, token: string): Moment {
  return { ...loadedOf(known), now: Date.now(), token };
}

function loadedOf({ loaded, input }: KnownTask): { task: TaskState; team: TaskTeam } {
  if (!loaded) throw notFound(input);
  return loaded;
}

export function taskOf(known: KnownTask): TaskState {
  return loadedOf(known).task;
}

export function notFound({ team, number }: TeamTaskInput): ApplicationFailure {
  return ApplicationFailure.nonRetryable(`team ${team} has no task ${number}`, 'NotFound');
}
