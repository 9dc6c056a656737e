/**
 * The task of a team's board that a lead's delegation to a member does (DE-2), or rounds that a member makes (DE-4):
 * named or created, claimed for the member while it works, and closed with the work.
 */
import type { AssignmentKey } from '#domain/assignment/assignment.ts';
import { TASK_WORDS } from '#domain/assignment/delegation-words.ts';
import { Failure } from '#domain/errors.ts';
import { claimProblem } from '#domain/team/decide-task.ts';
import { teamAccessProblem } from '#domain/team/may-use-team.ts';
import { isClosed } from '#domain/team/team-task.ts';
import { readTaskRef, taskIdOf, TEAM_LIMITS } from '#domain/team/team.ts';
import type { RunningCall } from '#policy/define-tool.ts';
import { type AssignmentRow, findAssignment, linkTask } from '#store/assignments/assignment-store.ts';
import { endAssignment } from '#store/assignments/end-assignment.ts';
import { forTenant, type TenantDb } from '#store/postgres/tenant-db.ts';
import { findTask, type TeamTaskRow } from '#store/teams/team-task-store.ts';
import { type TeamRow, teamsOf } from '#store/teams/team-store.ts';
import { createTeamBoard, type TeamBoardDeps } from '#temporal/team-board.ts';
import { type Refused, refused } from './agent-links.ts';
import { failed } from './assignment-end.ts';

/** Characters of a task's result and of the reason why it failed. */
const MAX_RESULT = 100_000;
const MAX_REASON = 2_000;
/** A lease lasts longer than the work, because its end is recorded before the task's. */
const LATE_SECONDS = 3_600;

export interface LinkedTask {
  readonly kind: 'linked';
  readonly team: TeamRow;
  /** Absent when the task is to be created. */
  readonly number?: number;
}

interface LinkRequest {
  readonly target: string;
  readonly taskId: string | undefined;
}

/** Undefined when the caller leads no team of the target. */
export async function findLinkedTask(
  { pool }: Pick<TeamBoardDeps, 'pool'>,
  call: RunningCall,
  { target, taskId }: LinkRequest,
): Promise<LinkedTask | Refused | undefined> {
  const db = forTenant(pool, call.tenant);
  const led = (await teamsOf(db, call.agent)).filter(
    (team) =>
      team.lead === call.agent &&
      team.members.includes(target) &&
      teamAccessProblem(team.settings, call) === undefined,
  );
  const [team, ...others] = led;
  if (taskId !== undefined) return findNamedTask(db, call, led, { target, taskId });
  return team && others.length === 0 ? { kind: 'linked', team } : undefined;
}

async function findNamedTask(
  db: TenantDb,
  { user }: RunningCall,
  led: readonly TeamRow[],
  { target, taskId: id }: LinkRequest & { readonly taskId: string },
): Promise<LinkedTask | Refused> {
  const ref = readTaskRef(id);
  const teams = ref?.team === undefined ? led : led.filter(({ key }) => key === ref.team);
  const [team, ...others] = teams;
  // A number alone names a task only in one team.
  const row = ref && team && others.length === 0 ? await findTask(db, team.key, ref.number) : undefined;
  if (!row || !team) return refused('NotFound', TASK_WORDS.unknown(id));
  const problem = linkProblem(row, { id, target, user });
  return problem === undefined
    ? { kind: 'linked', team, number: row.number }
    : refused('InvalidArgs', problem);
}

function linkProblem(
  { state, status, origin_context: origin }: TeamTaskRow,
  { id, target, user }: { readonly id: string; readonly target: string; readonly user: string | null },
): string | undefined {
  if (origin.user !== undefined && origin.user !== user) return TASK_WORDS.foreign(id);
  if (isClosed(status)) return TASK_WORDS.closed(id, status);
  return claimProblem(state, target)?.message;
}

/** Creates it if it is to be created. Returns why it was not claimed; the work has then ended. Safe to repeat. */
export async function claimLinkedTask(
  deps: TeamBoardDeps,
  call: RunningCall,
  row: AssignmentRow,
  { team, number }: LinkedTask,
): Promise<Refused | undefined> {
  const { tenant } = call;
  const db = forTenant(deps.pool, tenant);
  const board = createTeamBoard(deps);
  const task =
    number === undefined
      ? await board.create(
          tenant,
          team,
          // An assigned task would be given to the member as well.
          { subject: row.label, description: row.task },
          { actor: `agent:${call.agent}`, context: row.context },
          `delegation/${row.id}`,
        )
      : { tenant, team: team.key, number };
  // Rounds of making and judging have no time limit of their own.
  const seconds = row.timeout_seconds === 0 ? TEAM_LIMITS.longestLeaseSeconds : row.timeout_seconds;
  const lease_seconds = Math.min(seconds + LATE_SECONDS, TEAM_LIMITS.longestLeaseSeconds);
  try {
    await board.act(
      task,
      'claim',
      holderOf(row),
      { lease_seconds },
      { key: `${row.id}/claim`, mayRunTwice: true },
    );
  } catch (error) {
    if (!(error instanceof Failure) || error.type === 'Unavailable') throw error;
    const { message } = error;
    await endAssignment(db, row.id, {
      status: 'cancelled',
      result: null,
      error: { code: 'Conflict', message },
      warnings: [],
      by: call.callId,
      silent: true,
      call: failed('ExecutionFailed', message),
    });
    return refused('InvalidArgs', `${taskIdOf(task.team, task.number)}: ${message}`);
  }
  await linkTask(db, row.id, { team: task.team, number: task.number });
  return undefined;
}

/** The member, in the session of its work, which is accepted in place of the lease's token. */
function holderOf(row: AssignmentRow) {
  return { name: `agent:${row.target_key}`, member: row.target_key, session: row.session_key };
}

/** A task that was taken away from the member meanwhile stays as it is. Safe to repeat. */
export async function closeLinkedTask(deps: TeamBoardDeps, { tenant, id }: AssignmentKey): Promise<void> {
  const row = await findAssignment(forTenant(deps.pool, tenant), id);
  if (!row?.linked_task) return;
  const [action, words] = endOfTask(row);
  try {
    await createTeamBoard(deps).act({ tenant, ...row.linked_task }, action, holderOf(row), words, {
      key: `${id}/end`,
      mayRunTwice: true,
    });
  } catch (error) {
    if (!(error instanceof Failure) || error.type === 'Unavailable') throw error;
  }
}

/** Work that was cancelled or not approved goes back to the board. */
function endOfTask({ id, status, result, error, timeout_seconds: seconds }: AssignmentRow) {
  if (status === 'completed' || status === 'approved')
    return ['complete', { text: cut(result ?? '', MAX_RESULT) }] as const;
  if (status === 'cancelled' || status === 'not_approved')
    return ['release', { text: `${id}: ${status.replace('_', ' ')}` }] as const;
  const why = error?.message ?? (status === 'timeout' ? `it was ended after ${seconds} s` : status);
  return ['comment', { type: 'blocker', text: cut(why, MAX_REASON) }] as const;
}

function cut(text: string, max: number): string {
  return text.slice(0, max).toWellFormed();
}
