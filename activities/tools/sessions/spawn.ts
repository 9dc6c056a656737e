/** spawn: starts subagents for parts of the work, each as a workflow that outlives the turn (SA-*). */
import { z } from 'zod';
import { defineTool, type RunningCall, textField } from '#policy/define-tool.ts';
import type { ToolDeps } from '#activities/tool-call/tool-deps.ts';
import type { Assignments } from '#activities/assignments/assignments.ts';
import { ANNOUNCE_MODES, AWAIT_SUBAGENTS, steerProblem, WAIT_SECONDS } from '#domain/assignment/subagent.ts';
import { wholeSeconds } from '#domain/assignment/whole-seconds.ts';
import { isWithinThinking, THINKING } from '#domain/model/thinking.ts';
import { NOT_A_TASK } from '#domain/assignment/delegation-words.ts';
import { isActive, labelOf, reasonOf, runtimeOf } from '#domain/assignment/subagent-words.ts';
import { toolError, type ToolResult } from '#domain/tool.ts';

const input = z.object({
  action: z
    .enum(['spawn', 'run', 'list', 'get', 'wait', 'cancel', 'steer'])
    .default('spawn')
    .describe(
      'spawn: start one and go on; run: start one and wait for its result; list: those you started; get: the whole result of one; wait: until all have ended; cancel: end one; steer: end one and start it again with another message',
    ),
  task: textField(
    100_000,
    'For spawn and run: what the subagent is to do, with all it needs to know (it sees nothing else)',
  ).optional(),
  context: textField(100_000, 'More that it should know; goes with the task').optional(),
  agent: textField(
    64,
    'Another agent that you are linked to does it: the call is one of delegate',
  ).optional(),
  label: textField(100, 'A few words to know it by; the first 50 characters of the task').optional(),
  model: textField(200, 'provider/model in place of your own').optional(),
  thinking: z
    .enum(THINKING)
    .optional()
    .describe('How much it may think before it answers: no more than you do yourself'),
  mode: z.enum(['async', 'sync']).optional().describe('sync is the same as action=run'),
  id: textField(64, 'For get, cancel and steer; cancel also takes "all" and "last"').optional(),
  message: textField(65_536, 'For steer: what to do instead; 4000 characters are kept').optional(),
  timeout: z
    .number()
    .optional()
    .describe(
      'Seconds. For wait: how long (300); for spawn and run: how long the subagent may take. At most 86400',
    ),
  announce: z
    .enum(ANNOUNCE_MODES)
    .default('queue')
    .describe('queue: its result comes as a message after your turn; steer: into the turn that runs then'),
  detached: z.boolean().default(false).describe('Goes on when this session is stopped'),
});

/** Longest time for one subagent, and for waiting: a day. */
const MAX_SECONDS = 86_400;

type Input = z.infer<typeof input>;

export const tool = defineTool<Input, Pick<ToolDeps, 'assignments'>>({
  name: 'spawn',
  description:
    'Give parts of the work to subagents: agents like you, with your tools or fewer, that work beside you and report back. They survive restarts. After spawn do not wait or poll: each result reaches you as a message.',
  keywords:
    'parallel simultaneously at once concurrently helper helpers worker split divide background subagent start delegate same time several many pieces parts independent research assistants swarm together fan out sub-agents',
  group: 'sessions',
  replay: 'idempotent',
  input,
  limits: { duration: 'short', timeoutSeconds: 10 },
  summary: ({ action, task, label, id }) =>
    action === 'spawn' || action === 'run'
      ? ownLabel({ task, label })
      : `${action}${id === undefined ? '' : ` ${id}`}`,
  refusedParameters: {
    team_task_id: NOT_A_TASK,
    estimated_duration: 'estimated_duration: nothing goes by it; timeout says how long a subagent may take',
  },
  aliases: {
    sessions_spawn: {},
    subagent: {},
    subagents: { toCanonical: (args) => ({ action: 'list', ...args }) },
  },
  forms: {
    goclaw: { input: input.omit({ thinking: true, announce: true, detached: true }) },
    // In clawft, `spawn` starts a program.
    clawft: { name: 'subagent' },
  },
  redirect: ({ agent, action = 'spawn', ...input }) => {
    if (!agent) return undefined;
    const starts = action === 'spawn' || action === 'run';
    const mode = action === 'run' ? { mode: 'sync' } : {};
    return {
      tool: 'delegate',
      args: { ...input, ...mode, agent_key: agent, action: starts ? 'delegate' : action },
    };
  },
  run: ({ assignments }, args, call) => ACTIONS[args.action](assignments, args, call),
});

type Action = (assignments: Assignments, args: Input, call: RunningCall) => Promise<ToolResult>;

const ACTIONS: Readonly<Record<Input['action'], Action>> = {
  spawn,
  run: spawn,
  list,
  get,
  wait,
  cancel,
  steer,
};

function ownLabel({ task, label }: Pick<Input, 'task' | 'label'>): string {
  return labelOf(label?.trim() || (task ?? ''));
}

async function spawn(assignments: Assignments, args: Input, call: RunningCall): Promise<ToolResult> {
  const task = args.task?.trim() ?? '';
  if (task === '') return toolError('InvalidArgs', 'task parameter is required');
  if (`${task}${args.context ?? ''}`.includes('\0'))
    return toolError('InvalidArgs', 'task and context must not hold the character NUL');
  const { thinking } = args;
  if (thinking !== undefined && !isWithinThinking(thinking, call.thinking))
    return toolError(
      'InvalidArgs',
      `thinking: ${thinking} may be more than your own (${call.thinking ?? 'the default'})`,
    );
  const waits = args.action === 'run' || args.mode === 'sync';
  const spawned = await assignments.spawn(call, {
    task: args.context ? `${task}\n\nContext:\n${args.context}` : task,
    label: ownLabel(args),
    waits,
    announce: args.announce,
    detached: args.detached,
    model: args.model?.trim() || undefined,
    thinking,
    seconds: wholeSeconds(args.timeout, MAX_SECONDS),
  });
  if (spawned.kind === 'refused') return toolError(spawned.code, spawned.message);
  const { row, child } = spawned;
  const receipt = { status: 'accepted', id: row.id, completion_id: row.id, label: row.label };
  const hint = 'It works on its own now. Do not wait for it or poll: its result reaches you as a message.';
  return { ok: true, text: `${JSON.stringify(receipt)}\n${hint}`, child };
}

async function list(assignments: Assignments, _input: Input, call: RunningCall): Promise<ToolResult> {
  const rows = await assignments.subagents(call);
  if (rows.length === 0) return { ok: true, text: 'No active tasks found.' };
  const lines = rows.map(
    (row) =>
      `- ${row.id} [${row.status}] "${row.label}" session=${row.session_key} ${row.ended_at === null ? `since ${new Date(row.created_at).toISOString()}` : `runtime ${runtimeOf(row)}`}${row.replaced_by === null ? '' : ` replaced by ${row.replaced_by}`}${row.error === null ? '' : `: ${reasonOf(row)}`}`,
  );
  return { ok: true, text: lines.join('\n') };
}

async function get(assignments: Assignments, { id }: Input, call: RunningCall): Promise<ToolResult> {
  if (!id) return toolError('InvalidArgs', 'id is required for action=get');
  const row = await assignments.find(call, 'subagent', id);
  if (!row) return toolError('NotFound', `subagent "${id}" not found`);
  const head = `Subagent '${row.label}' (${row.id}): ${row.status}, ${row.iterations} iterations, runtime ${runtimeOf(row)}`;
  const error = row.error ? `\n\n${reasonOf(row)}` : '';
  return { ok: true, text: `${head}${error}${row.result === null ? '' : `\n\n${row.result}`}` };
}

async function wait(assignments: Assignments, { timeout }: Input, call: RunningCall): Promise<ToolResult> {
  const rows = await assignments.subagents(call);
  if (!rows.some((row) => isActive(row) || row.announced_by === null))
    return { ok: true, text: 'No active tasks found.' };
  const waiter = `subagents-wait/${call.tenant}/${call.callId}`;
  const { tenant, sessionKey: session, turnId: turn, callId } = call;
  const request = {
    tenant,
    session,
    turn,
    call: callId,
    waiter,
    seconds: wholeSeconds(timeout, MAX_SECONDS) ?? WAIT_SECONDS,
  };
  return {
    ok: true,
    text: 'Waits for the subagents.',
    child: { type: AWAIT_SUBAGENTS.type, id: waiter, input: request, wait: true },
  };
}

async function cancel(assignments: Assignments, { id }: Input, call: RunningCall): Promise<ToolResult> {
  if (!id) return toolError('InvalidArgs', 'id is required for action=cancel');
  const rows = await assignments.subagents(call);
  // Subagents that are being stopped count as ended, except for the call whose worker was lost before it could report
  // that.
  const running = rows.filter(
    (row) => isActive(row) && (row.stopped_by === null || row.stopped_by === call.callId),
  );
  const before = rows.filter((row) => !isActive(row) && row.stopped_by === call.callId);
  const meant =
    id === 'all' ? running : id === 'last' ? running.slice(0, 1) : running.filter((row) => row.id === id);
  if (meant.length + before.length === 0)
    return toolError('NotFound', `Task '${id}' not found or not running.`);
  await Promise.all(meant.map((row) => assignments.stop(call, row)));
  const named = [...meant, ...before].map((row) => `\n- ${row.id} "${row.label}"`);
  return { ok: true, text: `Task '${id}' cancelled.${id === 'all' || id === 'last' ? named.join('') : ''}` };
}

async function steer(
  assignments: Assignments,
  { id, message }: Input,
  call: RunningCall,
): Promise<ToolResult> {
  if (!id) return toolError('InvalidArgs', 'id is required for action=steer');
  const problem = steerProblem({ message });
  if (problem !== undefined) return toolError('InvalidArgs', problem);
  const row = await assignments.find(call, 'subagent', id);
  if (!row) return toolError('NotFound', `subagent "${id}" not found`);
  // It goes on with the rights of the person for whom it was started.
  if (row.user_id !== call.user)
    return toolError('PermissionDenied', `subagent "${id}" works for another person, who alone may steer it`);
  const done = `Steered subagent "${id}" → new task spawned.`;
  if (row.replaced_by !== null && row.stopped_by === call.callId) return { ok: true, text: done };
  const stopped = (status: string): ToolResult =>
    toolError('ExecutionFailed', `subagent "${id}" is not running (status=${status})`);
  if (!isActive(row)) return stopped(row.status);
  if (await assignments.steer(call, row, message ?? '')) return { ok: true, text: done };
  return stopped((await assignments.find(call, 'subagent', id))?.status ?? 'completed');
}
