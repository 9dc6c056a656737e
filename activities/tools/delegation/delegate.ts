/** delegate: gives work to another agent, as a workflow that outlives the turn (DE-2). */
import { z } from 'zod';
import { defineTool, type RunningCall, textField } from '#policy/define-tool.ts';
import type { ToolDeps } from '#activities/tool-call/tool-deps.ts';
import type { Assignments } from '#activities/assignments/assignments.ts';
import { readPassedFiles } from '#activities/assignments/pass-files.ts';
import type { AssignmentRow } from '#store/assignments/assignment-store.ts';
import type { Files } from '#activities/workspace/contract.ts';
import { WORK_STATUSES } from '#domain/assignment/assignment.ts';
import { ASSIGNMENT_MODES } from '#domain/assignment/delegation.ts';
import { DELEGATION_LIMITS, secondsOf } from '#domain/assignment/delegation.ts';
import { delegationLabel, whyNot } from '#domain/assignment/delegation-words.ts';
import { toolError, type ToolResult } from '#domain/tool.ts';

const PAGE = 20;

const input = z.object({
  action: z
    .enum(['delegate', 'cancel', 'list', 'get', 'history'])
    .default('delegate')
    .describe(
      'delegate: give work to an agent; list: what you gave and still runs; get: one with its whole result; cancel: end one; history: all that you ever gave, newest first',
    ),
  agent_key: textField(
    64,
    'For delegate: the agent that is to do it; for history: only that agent’s',
  ).optional(),
  task: textField(
    DELEGATION_LIMITS.task,
    'For delegate: what the agent is to do, with all it needs to know (it sees nothing else)',
  ).optional(),
  context: textField(
    DELEGATION_LIMITS.context,
    'More that the agent should know; goes with the task',
  ).optional(),
  label: textField(100, 'A few words to know it by; the first 100 characters of the task').optional(),
  mode: z
    .enum(ASSIGNMENT_MODES)
    .default('async')
    .describe('async: go on, the result comes as a message; sync: wait for the result'),
  timeout: z
    .number()
    .optional()
    .describe('Seconds that it may take: sync 300, at most 600; async 600, at most 86400'),
  depends_on: z
    .array(z.string().max(64))
    .max(DELEGATION_LIMITS.dependencies)
    .optional()
    .describe(
      'Ids of your own completed delegations; their results go with the task, 8000 characters of each, and the files that these name',
    ),
  files: z
    .array(z.string().max(1_000))
    .max(DELEGATION_LIMITS.files)
    .optional()
    .describe(
      'For delegate: paths in your workspace; the agent gets copies of these files in its own, at most 10 MiB together',
    ),
  team_task_id: textField(
    128,
    'For delegate, to a member of the team that you lead: the task of the board that this work is, as team_tasks lists it; it is claimed for the member and closed with the result. Without it a task is created',
  ).optional(),
  delegation_id: textField(64, 'For get and cancel; cancel also takes "all"').optional(),
  status: z.enum(WORK_STATUSES).optional().describe('For history: only these'),
  after: textField(200, 'For history: what the page before says at its end').optional(),
});

type Input = z.infer<typeof input>;

export const tool = defineTool<Input, Pick<ToolDeps, 'assignments' | 'files'>>({
  name: 'delegate',
  description:
    'Give work to another agent that you are linked to. It works with its own tools and instructions, survives restarts and reports back. After an async delegation do not wait or poll: the results of all that you delegated reach you in one message when the last has ended.',
  keywords:
    'outsource assign hand over ask colleague specialist expert task research agent let another bot do designer writer coder translate translator entrust request work job cancel progress send',
  group: 'delegation',
  replay: 'idempotent',
  input,
  limits: { duration: 'short', timeoutSeconds: 10 },
  summary: ({ action, agent_key, label, task, delegation_id }) =>
    action === 'delegate'
      ? `${agent_key ?? '?'}: ${label?.trim() || delegationLabel(task ?? '')}`
      : `${action}${delegation_id === undefined ? '' : ` ${delegation_id}`}`,
  parameterAliases: { agent: 'agent_key', target: 'agent_key', id: 'delegation_id' },
  refusedParameters: {
    // The text for `spawn` with an agent's name.
    model: 'model: another agent has a model of its own; leave it out',
    thinking: 'thinking: another agent thinks as it is set up; leave it out',
    announce: 'announce: the result comes as a message after your turn; leave it out',
    detached: 'detached: only a subagent can be; leave it out',
  },
  run: ({ assignments, files }, args, call) => ACTIONS[args.action](assignments, args, call, files),
});

type Action = (
  assignments: Assignments,
  args: Input,
  call: RunningCall,
  files: Pick<Files, 'readBytes'>,
) => Promise<ToolResult>;

const ACTIONS: Readonly<Record<Input['action'], Action>> = { delegate, cancel, list, get, history };

async function delegate(
  assignments: Assignments,
  args: Input,
  call: RunningCall,
  files: Pick<Files, 'readBytes'>,
): Promise<ToolResult> {
  const task = args.task?.trim() ?? '';
  if (!args.agent_key) return toolError('InvalidArgs', 'agent_key is required for action=delegate');
  if (task === '') return toolError('InvalidArgs', 'task is required for action=delegate');
  if (`${task}${args.context ?? ''}`.includes('\0'))
    return toolError('InvalidArgs', 'task and context must not hold the character NUL');
  const passed = await readPassedFiles(files, args.files ?? [], call);
  if ('ok' in passed) return passed;
  const work = await assignments.delegate(call, {
    target: args.agent_key,
    task,
    label: delegationLabel(args.label?.trim() || task),
    context: args.context,
    mode: args.mode,
    seconds: secondsOf(args.mode, args.timeout),
    dependsOn: [...new Set(args.depends_on)],
    taskId: args.team_task_id?.trim() || undefined,
    files: passed,
  });
  if (work.kind === 'refused') return toolError(work.code, work.message);
  const { row, child } = work;
  const message = `Agent "${row.target_key}" works on it. Do not wait or poll: the result reaches you as a message.`;
  const receipt = { delegation_id: row.id, agent: row.target_key, status: 'delegated', message };
  return { ok: true, text: JSON.stringify(receipt), child };
}

/** Its status contains text of the giver and of the agent that did it. */
async function readWork({ origins }: RunningCall, rows: readonly AssignmentRow[]): Promise<void> {
  await origins?.readSessions(rows.flatMap((row) => [row.origin_session, row.session_key]));
}

async function list(assignments: Assignments, _input: Input, call: RunningCall): Promise<ToolResult> {
  const pages = await Promise.all(
    (['queued', 'running'] as const).map((status) =>
      assignments.delegations(call, { status, session: call.sessionKey }, 100, undefined),
    ),
  );
  const rows = pages.flat();
  await readWork(call, rows);
  if (rows.length === 0) return { ok: true, text: 'No active delegations.' };
  return { ok: true, text: rows.map(line).join('\n') };
}

function line(row: AssignmentRow): string {
  const times =
    row.ended_at === null
      ? `since ${new Date(row.created_at).toISOString()}`
      : `ended ${new Date(row.ended_at).toISOString()}`;
  const why = row.error === null ? '' : `: ${whyNot(row)}`;
  return `- ${row.id} [${row.status}] ${row.target_key} "${row.label}" ${times}${why}`;
}

async function get(
  assignments: Assignments,
  { delegation_id }: Input,
  call: RunningCall,
): Promise<ToolResult> {
  if (!delegation_id) return toolError('InvalidArgs', 'delegation_id is required for action=get');
  const row = await assignments.find(call, 'delegation', delegation_id);
  if (!row) return toolError('NotFound', `delegation "${delegation_id}" not found`);
  await readWork(call, [row]);
  const parts = [line(row), row.result ?? '', ...row.warnings];
  return { ok: true, text: parts.filter((part) => part !== '').join('\n\n') };
}

async function cancel(
  assignments: Assignments,
  { delegation_id: id }: Input,
  call: RunningCall,
): Promise<ToolResult> {
  if (!id) return toolError('InvalidArgs', 'delegation_id is required for action=cancel');
  const rows =
    id === 'all' ? await ownActive(assignments, call) : [await assignments.find(call, 'delegation', id)];
  const stopped = await Promise.all(
    rows.map(
      // One that is being stopped counts as ended, except for the call whose worker was lost before it could report that.
      async (row) => {
        if (row === undefined) return false;
        const isDone = await assignments.stop(call, row);
        return row.stopped_by === null ? isDone : row.stopped_by === call.callId;
      },
    ),
  );
  if (!stopped.includes(true)) return toolError('NotFound', `Delegation '${id}' not found or not running.`);
  return { ok: true, text: `Delegation '${id}' cancelled.` };
}

async function ownActive(assignments: Assignments, call: RunningCall): Promise<readonly AssignmentRow[]> {
  const filter = { session: call.sessionKey };
  const rows = await assignments.delegations(call, filter, 200, undefined);
  return rows.filter((row) => row.ended_at === null || row.stopped_by === call.callId);
}

async function history(assignments: Assignments, args: Input, call: RunningCall): Promise<ToolResult> {
  const after = args.after === undefined ? undefined : cursorOf(args.after);
  if (args.after !== undefined && !after)
    return toolError('InvalidArgs', 'after must be what the page before says at its end');
  const filter = {
    target: args.agent_key,
    status: args.status,
  };
  const rows = await assignments.delegations(call, filter, PAGE + 1, after);
  if (rows.length === 0) return { ok: true, text: 'No delegations.' };
  const shown = rows.slice(0, PAGE);
  await readWork(call, shown);
  const last = shown.at(-1);
  const more = rows.length > PAGE && last ? `\n\nMore: after="${last.created_at} ${last.id}"` : '';
  return { ok: true, text: `${shown.map(line).join('\n')}${more}` };
}

function cursorOf(text: string): readonly [string, string] | undefined {
  const [time = '', id = ''] = text.split(' ');
  return Number.isNaN(Date.parse(time)) || !/^del-[0-9a-f]{16}$/.test(id) ? undefined : [time, id];
}
