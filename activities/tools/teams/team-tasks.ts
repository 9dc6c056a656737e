/**
 * team_tasks: the board of the caller's team (TE-2 … TE-4, TE-6). The task's workflow decides which actions are
 * permitted.
 */
import { z } from 'zod';
import {
  defineTool,
  type MadeCall,
  type Redirect,
  type RunningCall,
  textField,
} from '#policy/define-tool.ts';
import type { ToolDeps } from '#activities/tool-call/tool-deps.ts';
import { readAttachment } from '#activities/teams/team-attachment.ts';
import { taskLines, taskText } from '#activities/teams/team-task-text.ts';
import type { Membership, TeamService } from '#activities/teams/team-service.ts';
import { Failure, type ToolErrorCode } from '#domain/errors.ts';
import { assigneeProblem } from '#domain/team/lead-actions.ts';
import { compoundWarning, waitingWords } from '#domain/team/words.ts';
import { readTaskRef, taskIdOf, TEAM_LIMITS } from '#domain/team/team.ts';
import {
  COMMENT_TYPES,
  statusesOf,
  TASK_ACTIONS,
  TASK_FILTERS,
  TASK_ORDERS,
  type TaskAction,
  WITHDRAW_TASK,
} from '#domain/team/team-task.ts';
import { toolError, type ToolResult } from '#domain/tool.ts';

const ACTIONS = ['list', 'get', 'create', 'search', ...TASK_ACTIONS] as const;

const input = z.object({
  action: z
    .enum(ACTIONS, {
      error: (issue) => `unknown action: ${String(issue.input)} (use ${ACTIONS.join(', ')})`,
    })
    .describe('What to do with the board or a task'),
  task_id: textField(128, 'The task, as list gives it: task_TEAM.7, or 7').min(1).optional(),
  team: textField(64, 'Which team, when you are in several').min(1).optional(),
  subject: textField(TEAM_LIMITS.subject, 'create, update: one thing, in a few words').optional(),
  description: textField(
    TEAM_LIMITS.description,
    'create, update: all that the member needs to know; it sees nothing else',
  ).optional(),
  result: textField(TEAM_LIMITS.text, 'complete, review: what came of it').optional(),
  text: textField(
    TEAM_LIMITS.text,
    'comment, reject, cancel, ask_user, clear_ask_user, progress, approve: what to say',
  ).optional(),
  type: z
    .enum(COMMENT_TYPES)
    .default('note')
    .describe('comment: a blocker fails the task at once and tells the lead'),
  status: z
    .enum(['', ...TASK_FILTERS])
    .default('')
    .describe('list: only these; active: not closed; all or empty: all'),
  query: textField(500, 'search: words of subject or description').optional(),
  priority: z.int().min(-1_000).max(1_000).optional().describe('create, update, list: higher is more urgent'),
  blocked_by: z
    .array(z.string().max(128))
    .max(TEAM_LIMITS.blockers)
    .optional()
    .describe('create, update: tasks that must be completed first'),
  require_approval: z.boolean().optional().describe('create: nobody begins before it is approved'),
  percent: z.number().min(0).max(100).optional().describe('progress: 0 to 100'),
  path: textField(1_000, 'attach: a file of your workspace').optional(),
  task_type: z.enum(['general', 'request', 'note']).optional().describe('create: what kind of task'),
  assignee: textField(64, 'create, assign, retry, list: key of a member').min(1).optional(),
  order: z.enum(TASK_ORDERS).default('newest').describe('list: newest first, or the most urgent first'),
  page: z.int().min(1).max(1_000).default(1).describe('list: which page of 30'),
});

type Input = z.infer<typeof input>;

const READS: ReadonlySet<unknown> = new Set(['list', 'get', 'search']);

export const tool = defineTool<Input, Pick<ToolDeps, 'teams' | 'files'>>({
  name: 'team_tasks',
  description:
    'The task board of your team. The lead creates tasks and assigns them to members, who begin when the lead’s turn ends; results come back to the lead by themselves. Members report progress, comment, complete their task or submit it for review.',
  keywords:
    'todo ticket backlog kanban assignment assign work member claim done finish mark progress blocked open items project still to do left issues sprint milestone who does what due priority create new task review approve comment',
  group: 'teams',
  // Each change has the call's id, so a repeat has no further effect.
  replay: 'idempotent',
  onlyReads: ({ action }) => READS.has(action),
  input,
  limits: { duration: 'short', timeoutSeconds: 10 },
  summary: ({ action, task_id, subject }) => [action, task_id ?? subject ?? ''].join(' ').trim(),
  inverse,
  run: async ({ teams, files }, args, call) => {
    const membership = await teams.membership(call, args.team);
    if (typeof membership === 'string') return toolError('PermissionDenied', membership);
    try {
      if (args.action === 'create') return await create(teams, membership, args, call);
      if (args.action === 'list') return await list(teams, membership, args, call);
      if (args.action === 'search') return await search(teams, membership, args, call);
      const task = refIn(membership, args.task_id ?? currentTask(call), args.action);
      if (args.action === 'complete' && call.isTaskJudged)
        return toolError('PermissionDenied', call.team?.number === task ? JUDGED : JUDGED_ELSEWHERE);
      if (args.action === 'get') return await get(teams, membership, task, call);
      return await act(teams, files, membership, { ...args, action: args.action }, task, call);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      const code = CODES[error.type];
      if (!code) throw error;
      return toolError(code, error.message);
    }
  },
});

/** A created task is cancelled; what a member has done with a task is work, and stays. */
function inverse({ action }: Readonly<Record<string, unknown>>, made: MadeCall): Redirect | undefined {
  const task = /^Task (\S+) created: /.exec(made.result)?.[1];
  if (action !== 'create' || made.isUncertain || task === undefined) return undefined;
  return { tool: WITHDRAW_TASK, args: { task, call: made.id } };
}

/** DE-6: work that no gate has judged is no result. */
const JUDGED =
  'quality gates judge the result of this task: do not complete it, answer with the whole result instead; the task is completed when your answer has passed';

const JUDGED_ELSEWHERE =
  'quality gates judge your results, and here only that of the task you are at: leave this one to be assigned, and answer in its own turn';

const CODES: Readonly<Partial<Record<Failure['type'], ToolErrorCode>>> = {
  InvalidInput: 'InvalidArgs',
  Forbidden: 'PermissionDenied',
  NotFound: 'NotFound',
  Conflict: 'ExecutionFailed',
};

async function create(
  service: TeamService,
  membership: Membership,
  args: Input,
  call: RunningCall,
): Promise<ToolResult> {
  if (membership.role !== 'lead')
    return toolError(
      'PermissionDenied',
      'Members cannot create tasks. Use team_tasks(action="comment") to communicate.',
    );
  const subject = args.subject?.trim() ?? '';
  if (subject === '') return toolError('InvalidArgs', 'subject is required for create action');
  const problem = args.assignee === undefined ? undefined : assigneeProblem(membership.team, args.assignee);
  if (problem) return toolError('InvalidArgs', problem);
  const blocked_by = blockersIn(membership, args.blocked_by ?? []);
  if (!(await service.hasListed(call)))
    return toolError(
      'InvalidArgs',
      'You must check existing tasks first: call team_tasks with action=list or action=search, then create what is not there.',
    );
  const { number, child } = await service.create(call, membership, { ...args, subject, blocked_by });
  const who = args.assignee === undefined ? 'any member may claim it' : `${args.assignee} begins`;
  const lines = [
    `Task ${taskIdOf(membership.team.key, number)} created: "${subject}"; ${who} when your turn has ended${blocked_by.length > 0 ? ' and what it waits for is completed' : ''}. Its result reaches you by itself.`,
    compoundWarning(subject),
  ];
  return { ok: true, text: lines.filter((line) => line !== undefined).join('\n'), child };
}

async function list(
  service: TeamService,
  { team }: Membership,
  request: Input,
  call: RunningCall,
): Promise<ToolResult> {
  const all = request.page * TEAM_LIMITS.listPage;
  const rows = await service.list(
    call,
    team.key,
    {
      statuses: statusesOf(request.status || 'all'),
      owner: request.assignee,
      priority: request.priority,
      order: request.order,
    },
    all + 1,
  );
  const shown = rows.slice(all - TEAM_LIMITS.listPage, all);
  return { ok: true, text: taskLines(team.key, shown, rows.length > all ? request.page + 1 : undefined) };
}

async function search(
  service: TeamService,
  { team }: Membership,
  args: Input,
  call: RunningCall,
): Promise<ToolResult> {
  const query = args.query?.trim() ?? '';
  if (query === '') return toolError('InvalidArgs', 'query is required for search action');
  const rows = await service.list(call, team.key, { query }, TEAM_LIMITS.searchPage);
  return { ok: true, text: taskLines(team.key, rows, undefined) };
}

async function get(
  service: TeamService,
  { team }: Membership,
  number: number,
  call: RunningCall,
): Promise<ToolResult> {
  const row = await service.find(call, team.key, number);
  if (!row) return toolError('NotFound', `team ${team.key} has no task ${number}`);
  const comments = await service.comments(call, team.key, number);
  const files = await service.files(call, team.key, number);
  return { ok: true, text: taskText(row, comments, files) };
}

async function act(
  service: TeamService,
  files: Parameters<typeof readAttachment>[0],
  { team }: Membership,
  args: Input & { readonly action: TaskAction },
  number: number,
  call: RunningCall,
): Promise<ToolResult> {
  const { action, percent, assignee, type, subject, description, priority, path } = args;
  if (!(await service.find(call, team.key, number)))
    return toolError('NotFound', `team ${team.key} has no task ${number}`);
  const attachment = action === 'attach' ? await readAttachment(files, path, call) : undefined;
  if (attachment && 'ok' in attachment) return attachment;
  const lines = action === 'complete' || action === 'review' ? (args.result ?? args.text) : args.text;
  const blocked_by = args.blocked_by && blockersIn({ team }, args.blocked_by);
  const receipt = await service.act(call, team.key, number, action, {
    text: lines,
    percent,
    assignee,
    file: attachment,
    type: action === 'comment' ? type : undefined,
    ...(action === 'update' ? { subject, description, priority, blocked_by } : {}),
  });
  const { id, status, owner, note } = receipt;
  const done =
    note ?? `Task ${id}: ${action} done. It is ${status}${owner === null ? '' : `, with ${owner}`}.`;
  const waiting = status === 'cancelled' ? await service.waitingFor(call, team.key, number) : [];
  return { ok: true, text: waiting.length === 0 ? done : `${done} ${waitingWords(waiting)}` };
}

/** A member's turn is for one task. */
function currentTask({ team }: RunningCall): string | undefined {
  return team && String(team.number);
}

function refIn({ team }: Pick<Membership, 'team'>, text: string | undefined, action: string): number {
  if (text === undefined || text === '')
    throw new Failure('InvalidInput', `task_id is required for ${action} action`);
  const ref = readTaskRef(text);
  if (!ref) throw new Failure('InvalidInput', `"${text}" is no task; list names those there are`);
  if (ref.team !== undefined && ref.team !== team.key)
    throw new Failure('Forbidden', 'task does not belong to your team');
  return ref.number;
}

function blockersIn({ team }: Pick<Membership, 'team'>, texts: readonly string[]): readonly number[] {
  return texts.map((text) => {
    const ref = readTaskRef(text);
    if (!ref || (ref.team !== undefined && ref.team !== team.key))
      throw new Failure('InvalidInput', `blocked_by contains invalid task ID: "${text}"`);
    return ref.number;
  });
}
