/**
 * The work of the tools team_tasks and team_message: the caller's membership, the board, the messages. Every method is
 * limited to the caller's tenant and its agent's teams; the identity is that of the call.
 */
import { createHash } from 'node:crypto';
import { mailSessionKey, type TeamRole, roleIn, sessionsOfTask } from '#domain/team/team.ts';
import { teamAccessProblem } from '#domain/team/may-use-team.ts';
import {
  type TaskAction,
  type TaskActor,
  type TaskReceipt,
  TEAM_TASKS_TOOL,
} from '#domain/team/team-task.ts';
import type { ChildStart } from '#domain/turn/turn-activities.ts';
import type { RunningCall } from '#policy/define-tool.ts';
import type { Pool } from '#store/postgres/pool.ts';
import * as tasks from '#store/teams/team-task-store.ts';
import { dependentsOf } from '#store/teams/team-task-state.ts';
import * as teams from '#store/teams/team-store.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { hasCalledBefore } from '#store/turns/turn-call-store.ts';
import { type TaskDraft, type TaskWords, taskStart, type TeamBoard } from '#temporal/team-board.ts';
import type { SendSystemMessage } from '../turn/send-system-message.ts';

export interface Membership {
  readonly team: teams.TeamRow;
  readonly role: TeamRole;
}

export type TeamCaller = Pick<
  RunningCall,
  | 'tenant'
  | 'agent'
  | 'user'
  | 'channel'
  | 'sessionKey'
  | 'turnId'
  | 'callId'
  | 'team'
  | 'offeredTools'
  | 'origins'
>;

export interface TeamService {
  /**
   * The caller's team: the one that it works for, otherwise the named one, otherwise its only one. Otherwise a text
   * with the reason.
   */
  membership(call: TeamCaller, team?: string): Promise<Membership | string>;
  /** Whether the caller has read the board in this turn. */
  hasListed(call: TeamCaller): Promise<boolean>;
  list(
    call: TeamCaller,
    team: string,
    filter: tasks.TaskFilter,
    limit: number,
    before?: number,
  ): Promise<readonly tasks.TeamTaskRow[]>;
  find(call: TeamCaller, team: string, number: number): Promise<tasks.TeamTaskRow | undefined>;
  comments(call: TeamCaller, team: string, number: number): Promise<readonly tasks.CommentRow[]>;
  files(call: TeamCaller, team: string, number: number): Promise<readonly tasks.FileRow[]>;
  /** Numbers of the open tasks that wait for it. */
  waitingFor(call: TeamCaller, team: string, number: number): Promise<readonly number[]>;
  create(
    call: TeamCaller,
    membership: Membership,
    draft: TaskDraft,
  ): Promise<{ readonly number: number; readonly child: ChildStart }>;
  /** Throws the refusals as Failures. */
  act(
    call: TeamCaller,
    team: string,
    number: number,
    action: TaskAction,
    words: TaskWords,
  ): Promise<TaskReceipt>;
  /** Each addressee is woken once, and finds it among its unread messages. */
  send(call: TeamCaller, membership: Membership, to: readonly string[], text: string): Promise<void>;
  read(
    call: TeamCaller,
    team: string,
    limit: number,
  ): Promise<{ readonly messages: readonly teams.TeamMessageRow[]; readonly left: number }>;
}

export interface TeamServiceDeps {
  readonly pool: Pool;
  readonly board: TeamBoard;
  readonly wake: SendSystemMessage;
}

/** The tasks contain text of their creators and members. */
async function readTasks(
  { origins }: TeamCaller,
  team: string,
  rows: readonly tasks.TeamTaskRow[],
): Promise<void> {
  await origins?.readSessions(rows.flatMap((row) => sessionsOfTask(team, row)));
}

export function createTeamService({ pool, board, wake }: TeamServiceDeps): TeamService {
  return {
    async membership(call, required) {
      const own = await teams.teamsOf(forTenant(pool, call.tenant), call.agent);
      const key = call.team?.key ?? required;
      const found = key === undefined ? own : own.filter((team) => team.key === key);
      const [team] = found;
      if (!team)
        return own.length === 0 ? 'you are not part of any team' : `you are not part of team "${key}"`;
      if (found.length > 1)
        return `you are in several teams: say which, by team: ${found.map((one) => one.key).join(', ')}`;
      const role = roleIn(team, call.agent);
      const problem = call.team ? undefined : teamAccessProblem(team.settings, call);
      return problem ?? (role ? { team, role } : 'you are not part of this team');
    },

    hasListed: (call) =>
      hasCalledBefore(forTenant(pool, call.tenant), call.turnId, TEAM_TASKS_TOOL, ['list', 'search']),
    async list(call, team, filter, limit, before) {
      const rows = await tasks.listTasks(forTenant(pool, call.tenant), team, filter, limit, before);
      await readTasks(call, team, rows);
      return rows;
    },
    async find(call, team, number) {
      const row = await tasks.findTask(forTenant(pool, call.tenant), team, number);
      if (row) await readTasks(call, team, [row]);
      return row;
    },
    comments: (call, team, number) =>
      tasks.listComments(forTenant(pool, call.tenant), [team, number], 200, undefined),
    files: (call, team, number) => tasks.listFiles(forTenant(pool, call.tenant), [team, number]),
    waitingFor: (call, team, number) => dependentsOf(forTenant(pool, call.tenant), [team, number]),

    async create(call, { team }, draft) {
      const origin = { actor: actorOf(call).name, session: call.sessionKey, turn: call.turnId };
      const task = await board.create(call.tenant, team, draft, origin, call.callId);
      const { type, id, input } = taskStart(task.tenant, task.team, task.number);
      const labels = { tenant: call.tenant, session: call.sessionKey, agent: draft.assignee ?? call.agent };
      const child: ChildStart = {
        type,
        id,
        input: input as Readonly<Record<string, unknown>>,
        wait: false,
        labels: { ...labels, user: call.user ?? undefined },
      };
      return { number: task.number, child };
    },

    act: (call, team, number, action, words) =>
      board.act({ tenant: call.tenant, team, number }, action, actorOf(call), words, {
        key: call.callId,
        mayRunTwice: false,
      }),

    async send(call, { team }, to, text) {
      for (const addressee of to) {
        const id = createHash('sha256')
          .update(`${call.tenant}\n${call.callId}\n${addressee}`)
          .digest('hex')
          .slice(0, 24);
        await teams.insertTeamMessage(forTenant(pool, call.tenant), team.key, {
          id: `mail_${id}`,
          sender: call.agent,
          addressee,
          text,
        });
        await wake({
          tenant: call.tenant,
          session: mailSessionKey(team.key, addressee),
          messageId: `msg_mail-${id}`,
          text: `[Team message from ${call.agent}]: ${text}`,
          mode: 'queue',
          agent: addressee,
          team: team.key,
          from: { session: call.sessionKey, turn: call.turnId },
          context: { channel: 'teammate', user: call.user ?? undefined },
        });
      }
    },

    async read(call, team, limit) {
      await call.origins?.readSessions([mailSessionKey(team, call.agent)]);
      return teams.readTeamMessages(forTenant(pool, call.tenant), team, call.agent, limit);
    },
  };
}

function actorOf(call: TeamCaller): TaskActor {
  return {
    name: `agent:${call.agent}`,
    member: call.agent,
    session: call.sessionKey,
    fence: call.team?.fence,
  };
}
