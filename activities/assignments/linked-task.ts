/**
 * The task of a team's board that delegated work is (DE-2, DE-4): the lead names one, or one is created, for work of a
 * member. The member holds it while it works, and it ends with the work.
 */
import type { AssignmentKey } from '#domain/assignment/assignment.ts';
import { TASK_WORDS, whyNot } from '#domain/assignment/delegation-words.ts';
import type { LinkedTask } from '#domain/assignment/new-assignment.ts';
import { Failure } from '#domain/errors.ts';
import { claimProblem } from '#domain/team/decide-task.ts';
import { teamAccessProblem } from '#domain/team/may-use-team.ts';
import { isClosed, type TaskAction, type TaskActor } from '#domain/team/team-task.ts';
import { readTaskRef, TEAM_LIMITS } from '#domain/team/team.ts';
import type { RunningCall } from '#policy/define-tool.ts';
import { type AssignmentRow, findAssignment, linkTask } from '#store/assignments/assignment-store.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { findTask, type TeamTaskRow } from '#store/teams/team-task-store.ts';
import { findTeam, type TeamRow, teamsOf } from '#store/teams/team-store.ts';
import { createTeamBoard, type TaskWords, type TeamBoard, type TeamBoardDeps } from '#temporal/team-board.ts';
import { type Refused, refused } from './agent-links.ts';

/** Characters of a task's result and of the reason why it failed. */
const MAX_RESULT = 100_000;
const MAX_REASON = 2_000;

interface LinkRequest {
  /** Of the work that is to be the task. */
  readonly id: string;
  readonly target: string;
  readonly taskId: string | undefined;
}

/** The task that the caller names for the target. Safe to repeat: the work may have it already. */
export async function findNamedTask(
  deps: Pick<TeamBoardDeps, 'pool'>,
  call: RunningCall,
  { id: work, target, taskId = '' }: LinkRequest,
): Promise<LinkedTask | Refused> {
  const ref = readTaskRef(taskId);
  const led = await teamsLedOver(deps, call, target);
  const teams = ref?.team === undefined ? led : led.filter(({ key }) => key === ref.team);
  const [team, ...others] = teams;
  // A number alone names a task only in one team.
  const isNamed = ref !== undefined && team !== undefined && others.length === 0;
  const row = isNamed ? await findTask(forTenant(deps.pool, call.tenant), team.key, ref.number) : undefined;
  if (!row) return refused('NotFound', TASK_WORDS.unknown(taskId));
  const problem = row.state.lease?.work === work ? undefined : linkProblem(row, { taskId, target }, call);
  return problem === undefined ? { team: row.team_key, number: row.number } : refused('InvalidArgs', problem);
}

/** A task for work that names none: only when it is plain of which team. */
export async function newTaskFor(
  deps: Pick<TeamBoardDeps, 'pool'>,
  call: RunningCall,
  target: string,
): Promise<LinkedTask | undefined> {
  const [team, ...others] = await teamsLedOver(deps, call, target);
  if (!team || others.length > 0 || team.settings.delegation_tasks === false) return undefined;
  return { team: team.key, created: true };
}

/** The teams of the target that the caller leads and may use. */
async function teamsLedOver(
  { pool }: Pick<TeamBoardDeps, 'pool'>,
  call: RunningCall,
  target: string,
): Promise<readonly TeamRow[]> {
  const own = await teamsOf(forTenant(pool, call.tenant), call.agent);
  return own.filter(
    ({ lead, members, settings }) =>
      lead === call.agent && members.includes(target) && teamAccessProblem(settings, call) === undefined,
  );
}

function linkProblem(
  { state, status, origin_context: origin }: TeamTaskRow,
  { taskId, target }: { readonly taskId: string; readonly target: string },
  { user }: Pick<RunningCall, 'user'>,
): string | undefined {
  if (origin.user !== undefined && origin.user !== user) return TASK_WORDS.foreign(taskId);
  if (isClosed(status)) return TASK_WORDS.closed(taskId, status);
  return claimProblem(state, target)?.message;
}

/** @throws Failure of the board when the member cannot have it. Safe to repeat. */
export async function claimLinkedTask(deps: TeamBoardDeps, { tenant, id }: AssignmentKey): Promise<void> {
  const db = forTenant(deps.pool, tenant);
  const row = await findAssignment(db, id);
  const link = row?.linked_task;
  if (!row || !link || link.fence !== undefined || row.ended_at !== null) return;
  const board = createTeamBoard(deps);
  const number = link.number ?? (await createTask(deps, board, tenant, row));
  if (link.number === undefined) await linkTask(db, id, { ...link, number });
  // Rounds of making and judging have no time limit of their own.
  const lease_seconds = row.timeout_seconds || TEAM_LIMITS.longestLeaseSeconds;
  const { lease } = await board.act(
    { tenant, team: link.team, number },
    'claim',
    holderOf(row),
    { lease_seconds },
    { key: `${id}/claim`, mayRunTwice: true },
  );
  await linkTask(db, id, { ...link, number, ...(lease && { fence: lease.fence }) });
}

/** Returns its number. Safe to repeat. */
async function createTask(
  { pool }: TeamBoardDeps,
  board: TeamBoard,
  tenant: string,
  { id, label, task, linked_task, source_key, origin_session, context }: AssignmentRow,
): Promise<number> {
  const key = linked_task?.team ?? '';
  const team = await findTeam(forTenant(pool, tenant), key);
  if (!team) throw new Failure('NotFound', `there is no team "${key}"`);
  const draft = { subject: label, description: task };
  const origin = { actor: `agent:${source_key}`, writer: origin_session, context };
  return (await board.create(tenant, team, draft, origin, `delegation/${id}`)).number;
}

/** The session whose text the task gets. Rounds have many; what those have read, the giver's session has read. */
function holderOf({ id, kind, target_key, session_key, origin_session }: AssignmentRow): TaskActor {
  const session = kind === 'evaluation' ? origin_session : session_key;
  return { name: `agent:${target_key}`, member: target_key, session, work: id };
}

/** @throws Failure of the board when the task is no longer the work's. Safe to repeat. */
export async function closeLinkedTask(deps: TeamBoardDeps, { tenant, id }: AssignmentKey): Promise<void> {
  const db = forTenant(deps.pool, tenant);
  const row = await findAssignment(db, id);
  const link = row?.linked_task;
  if (!row || link?.number === undefined) return;
  const { team, number, fence, created } = link;
  // Without a fence it never had the task: one that was there before stays, and one that was created is for nobody.
  if (fence === undefined && !(created && (await findTask(db, team, number))?.state.lease === null)) return;
  const end = fence === undefined ? cancelByLead(row) : endOfTask(row, { fence, created });
  const { by, action, ...words } = end;
  await createTeamBoard(deps).act({ tenant, team, number }, action, by, words, {
    key: `${id}/end`,
    mayRunTwice: true,
  });
}

interface TaskEnd extends TaskWords {
  readonly action: TaskAction;
  readonly by: TaskActor;
}

function cancelByLead({ id, source_key: lead }: AssignmentRow): TaskEnd {
  return { action: 'cancel', by: { name: `agent:${lead}`, member: lead }, text: `${id} did not begin` };
}

/** Work that was stopped or not approved goes back to the board, if the task was there before. */
function endOfTask(
  row: AssignmentRow,
  { fence, created }: { readonly fence: number; readonly created: true | undefined },
): TaskEnd {
  const { id, status, result, warnings, stopped_by } = row;
  const by = { ...holderOf(row), fence };
  if (status === 'completed' || status === 'approved')
    return { action: 'complete', by, text: cut([result ?? '', ...warnings].join('\n\n'), MAX_RESULT) };
  if (status === 'cancelled' || status === 'not_approved' || stopped_by !== null) {
    const why = row.error === null ? '' : `: ${row.error.message}`;
    const text = cut(`${id}: ${status.replace('_', ' ')}${why}`, MAX_REASON);
    return { action: created ? 'cancel' : 'release', by, text };
  }
  return { action: 'comment', by, type: 'blocker', text: cut(whyNot(row), MAX_REASON) };
}

function cut(text: string, max: number): string {
  return text.slice(0, max).toWellFormed();
}
