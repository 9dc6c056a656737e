/** Serves a team's board: tasks, actions on them, and who did what when (TE-2 … TE-6). The task's workflow decides. */
import { randomUUID } from 'node:crypto';
import {
  findTask,
  listComments,
  listFiles,
  listTasks,
  readFileBytes,
  type TeamTaskRow,
} from '#store/teams/team-task-store.ts';
import type { TaskKey } from '#store/teams/recorded-task.ts';
import type { TeamRow } from '#store/teams/team-store.ts';
import { createTeamBoard } from '#temporal/team-board.ts';
import { Failure } from '#domain/errors.ts';
import { taskOperations, teamTaskActions, teamTasks } from '#domain/resource/team-tasks.ts';
import { claimProblem } from '#domain/team/decide-task.ts';
import { teamAccessProblem } from '#domain/team/may-use-team.ts';
import { readTaskRef, taskWorkflowId, TEAM_LIMITS } from '#domain/team/team.ts';
import { statusesOf, type TaskAction } from '#domain/team/team-task.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import type { Caller } from '../../server/auth.ts';
import type { Api, ApiDeps } from '../../deps.ts';
import { stemOf } from '../../server/idempotency.ts';
import { isNumberKeys, readPage, readCreatedPage } from '../../server/pages.ts';
import { type Call, serveResource } from '../../serve-resource.ts';
import { showTask } from '../../show-task.ts';
import { createTemporalLink } from '../../temporal-links.ts';
import { createConcurrencyLimit } from '../../../domain/async/concurrency-limit.ts';
import { teamOr404 } from './teams.ts';

type TaskOperation = (typeof teamTaskActions)['operations'][string];

export function addRoutes(app: Api, deps: ApiDeps): void {
  addTasks(app, deps);
  addActions(app, deps);
}

/** Finds a task by its id, `#7` or `7`. */
async function taskOr404(deps: ApiDeps, team: TeamRow, tenant: string, id: string): Promise<TeamTaskRow> {
  const ref = readTaskRef(id);
  const own = ref && (ref.team === undefined || ref.team === team.key);
  const row = own ? await findTask(forTenant(deps.pool, tenant), team.key, ref.number) : undefined;
  if (!row) throw new Failure('NotFound', teamTasks.missing);
  return row;
}

function addTasks(app: Api, deps: ApiDeps): void {
  const link = createTemporalLink(deps.settings);
  const board = boardOf(deps);
  const taskOf = async (tenant: string, { team, id }: { readonly team: string; readonly id: string }) =>
    taskOr404(deps, await teamOr404(deps, tenant, team), tenant, id);
  const keyOf = async (tenant: string, params: Parameters<typeof taskOf>[1]): Promise<TaskKey> => {
    const { team_key, number } = await taskOf(tenant, params);
    return [team_key, number];
  };
  serveResource(
    app,
    teamTasks,
    {
      async listTeamTasks({ tenant, db, params, query }) {
        const team = await teamOr404(deps, tenant, params.team);
        const { status, owner, priority, q } = query;
        const filter = { statuses: statusesOf(status), owner, priority, query: q };
        return readPage(
          query,
          (limit, after) => listTasks(db, team.key, filter, limit, after && Number(after[0])),
          (row) => [row.number],
          isNumberKeys(1),
          (row) => showTask(tenant, row, link),
        );
      },
      getTeamTask: async ({ tenant, params }) => showTask(tenant, await taskOf(tenant, params), link),
      async createTeamTask({ caller, tenant, by, params, body: { blocked_by, ...draft }, request }) {
        const team = await teamOr404(deps, tenant, params.team);
        demandAccess(team, caller);
        const origin = { actor: by, context: caller.user === null ? undefined : { user: caller.user } };
        const key = stemOf(request, caller, 'task', team.key) ?? randomUUID();
        const blockers = blocked_by && { blocked_by: blockersIn(team, blocked_by) };
        const task = await board.create(tenant, team, { ...draft, ...blockers }, origin, key);
        await board.begin(task);
        return showTask(tenant, await taskOr404(deps, team, tenant, String(task.number)), link);
      },
      async listTaskComments({ tenant, db, params, query }) {
        const key = await keyOf(tenant, params);
        return readCreatedPage(query, (limit, after) => listComments(db, key, limit, after));
      },
      async listTaskFiles({ tenant, db, params }) {
        return { data: await listFiles(db, await keyOf(tenant, params)) };
      },
      async getTaskFile({ tenant, db, params }) {
        const found = await readFileBytes(db, await keyOf(tenant, params), params.file);
        if (!found) throw new Failure('NotFound', 'There is no such file at this task');
        return { name: found.name, content: found.bytes.toString('base64') };
      },
    },
    // For a new task, this looks up its team.
    ({ tenant }, _id, { team = '' }) => teamOr404(deps, tenant, team),
  );
}

function addActions(app: Api, deps: ApiDeps): void {
  const board = boardOf(deps);
  const act =
    (action: TaskAction) =>
    async ({ caller, tenant, by, params, body, request, reply }: Call<TaskOperation>) => {
      const team = await teamOr404(deps, tenant, params.team);
      demandAccess(team, caller);
      const row = await taskOr404(deps, team, tenant, params.id);
      const { number } = row;
      if (action === 'attach' && !body.file)
        throw new Failure(
          'InvalidInput',
          'file is required for attach action: its name, and its content in base64',
        );
      const { member, token, file, blocked_by, text, result, reason, ...words } = body;
      const stem = stemOf(request, caller, action, team.key, String(number));
      const receipt = await limit.pass(`${tenant}/${row.team_key}/${number}`, async (waited) => {
        // An earlier claim may have got the task.
        if (waited && action === 'claim') refuseClaim(await taskOr404(deps, team, tenant, params.id), member);
        return board.act(
          { tenant, team: team.key, number },
          action,
          { name: by, member, token },
          {
            ...words,
            text: text ?? result ?? reason,
            file: file ? { name: file.name, bytes: bytesOf(file.content) } : undefined,
            blocked_by: blocked_by ? blockersIn(team, blocked_by) : undefined,
          },
          { key: stem ?? randomUUID(), mayRunTwice: stem !== undefined },
        );
      });
      if (receipt.judging && (action === 'complete' || action === 'review')) reply.code(202);
      return { ...receipt, workflow_id: taskWorkflowId(tenant, team.key, number) };
    };
  serveResource(
    app,
    teamTaskActions,
    Object.fromEntries(Array.from(taskOperations, ([id, action]) => [id, act(action)])),
    async ({ tenant }, id, { team = '' }) => taskOr404(deps, await teamOr404(deps, tenant, team), tenant, id),
  );
}

/** Stays under the ten updates that Temporal accepts of one run at a time, also with several API processes. */
const limit = createConcurrencyLimit(4);

/** Refuses a claim of a task that is taken. A claim of its own holder may be a repeat, so the workflow decides. */
function refuseClaim({ state }: TeamTaskRow, member: string | undefined): void {
  if (member === undefined || state.lease?.member === member) return;
  const problem = claimProblem(state, member);
  if (problem) throw new Failure(problem.type, problem.message, problem.details ?? {});
}

function boardOf(deps: ApiDeps) {
  return createTeamBoard({
    pool: deps.pool,
    scrubberOf: deps.secrets.vault.scrubberOf,
    reach: deps.temporal,
  });
}

/** Settings name the users and channels with access; an administrator of the deployment always has it. */
function demandAccess(team: TeamRow, caller: Caller): void {
  if (caller.scopes.has('admin')) return;
  const problem = teamAccessProblem(team.settings, { user: caller.user, channel: 'api' });
  if (problem) throw new Failure('Forbidden', problem);
}

function blockersIn(team: TeamRow, refs: readonly (string | number)[]): readonly number[] {
  return refs.map((input) => {
    const ref = readTaskRef(String(input));
    if (!ref || (ref.team !== undefined && ref.team !== team.key))
      throw new Failure('InvalidInput', `blocked_by contains invalid task ID: "${input}"`);
    return ref.number;
  });
}

function bytesOf(content: string): Buffer {
  const bytes = Buffer.from(content, 'base64');
  if (bytes.length > TEAM_LIMITS.fileBytes)
    throw new Failure('TooLarge', `An attachment has at most ${TEAM_LIMITS.fileBytes} bytes`);
  return bytes;
}
