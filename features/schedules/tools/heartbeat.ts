/** heartbeat: wakes the agent at intervals to go through HEARTBEAT.md. */
import { z } from 'zod';
import { defineTool, type RunningCall, textField } from '#policy/define-tool.ts';
import type { OwnHeartbeat, OwnHeartbeats } from '../activities/own-heartbeats.ts';
import { DOCUMENT_LIMITS } from '#domain/files/document.ts';
import { Failure } from '#domain/errors.ts';
import { CHECKLIST, QUIET_ANSWER } from '../contract/heartbeat.ts';
import { heartbeatFields } from '../schema/heartbeat.ts';
import { toolError, type ToolResult } from '#domain/tool.ts';

const MAX_LOGS = 50;

const input = z.object({
  action: z
    .enum(['status', 'get', 'set', 'toggle', 'set_checklist', 'get_checklist', 'test', 'logs'])
    .describe(
      `set: make or change it; toggle: pause or resume, by enabled; test: a beat now; logs: how the last ones went`,
    ),
  ...z.object(heartbeatFields).partial().shape,
  prompt: z
    .union([heartbeatFields.prompt, z.literal('')])
    .optional()
    .describe(
      `What you are told, in place of the usual words; say there when to answer ${QUIET_ANSWER}; "" for those`,
    ),
  active_hours: z
    .union([heartbeatFields.active_hours.unwrap(), z.literal('')])
    .optional()
    .describe('HH:MM-HH:MM, may go over midnight; "" for all times'),
  model: z
    .union([heartbeatFields.model.unwrap(), z.literal('')])
    .optional()
    .describe('provider/model in place of yours, such as a cheaper one; "" for yours'),
  channel: textField(200, 'That of this conversation: its session’s chat is told').optional(),
  chat_id: textField(200, 'The chat of this conversation').optional(),
  content: textField(DOCUMENT_LIMITS.bytes, `set_checklist: the whole ${CHECKLIST}`).optional(),
  limit: z.int().min(1).max(MAX_LOGS).default(10).describe('logs: how many'),
  offset: z.int().min(0).max(1_000).default(0).describe('logs: after so many of the newest'),
});

type Input = z.infer<typeof input>;

const READS: ReadonlySet<unknown> = new Set(['status', 'get', 'get_checklist', 'logs']);

export const tool = defineTool<Input, { readonly heartbeats: OwnHeartbeats }>({
  name: 'heartbeat',
  description: `Be woken at intervals to go through ${CHECKLIST}, your checklist. What you answer then is said in the session where this was set, unless it is ${QUIET_ANSWER}. While the checklist is empty nothing happens.`,
  keywords:
    'regular periodic routine check every half hour wake up monitor watch proactive todo checklist periodically often look after inbox idle background attention recurring needs anything new keep an eye on',
  group: 'automation',
  // Ids are derived from the call.
  replay: 'idempotent',
  onlyReads: ({ action }) => READS.has(action),
  input,
  limits: { duration: 'short', timeoutSeconds: 10 },
  summary: ({ action }) => action,
  async run({ heartbeats }, args, call) {
    if (call.subagent) return toolError('PermissionDenied', 'a subagent has no heartbeat');
    try {
      return answer(await ACTIONS[args.action](heartbeats, args, call));
    } catch (error) {
      if (!(error instanceof Failure) || error.type === 'Unavailable') throw error;
      return toolError(error.type === 'NotFound' ? 'NotFound' : 'InvalidArgs', error.message);
    }
  },
});

type Action = (heartbeats: OwnHeartbeats, args: Input, call: RunningCall) => Promise<object>;

const ACTIONS: Readonly<Record<Input['action'], Action>> = {
  async status(heartbeats, _input, call) {
    const found = await heartbeats.find(call);
    if (!found) return { set: false };
    const [last] = await heartbeats.runs(call, found, 1);
    const { isEmpty } = await heartbeats.checklist(call);
    return {
      set: true,
      enabled: found.enabled,
      next_run: found.next_runs[0] ?? null,
      checklist: isEmpty ? 'empty' : 'written',
      last: last && { at: last.at.toISOString(), outcome: outcomeOf(last.state), reason: last.reason },
    };
  },
  get: async (heartbeats, _input, call) => shown(await mine(heartbeats, call)),
  async set(heartbeats, args, call) {
    const {
      action: _action,
      channel,
      chat_id,
      content: _content,
      limit: _limit,
      offset: _offset,
      ...input
    } = args;
    if ((channel ?? call.channel) !== call.channel || (chat_id ?? call.chatId) !== call.chatId)
      throw wrong('channel: a heartbeat speaks in the chat in which it was set, and no other');
    const { prompt, active_hours, model } = input;
    const cleared = { prompt: orNone(prompt), active_hours: orNone(active_hours), model: orNone(model) };
    return shown(await heartbeats.set(call, { ...input, ...cleared }));
  },
  async toggle(heartbeats, { enabled }, call) {
    if (enabled === undefined) throw wrong('enabled is required for toggle');
    await mine(heartbeats, call);
    return shown(await heartbeats.set(call, { enabled }));
  },
  async set_checklist(heartbeats, { content }, call) {
    if (content === undefined) throw wrong('content is required for set_checklist');
    await heartbeats.writeChecklist(call, content);
    const { isEmpty } = await heartbeats.checklist(call);
    return { written: true, checklist: isEmpty ? 'empty' : 'written' };
  },
  get_checklist: async (heartbeats, _input, call) => ({ content: (await heartbeats.checklist(call)).text }),
  async test(heartbeats, _input, call) {
    await heartbeats.runNow(call, await mine(heartbeats, call));
    return { started: true, see: 'logs' };
  },
  async logs(heartbeats, { limit, offset }, call) {
    const found = await mine(heartbeats, call);
    const runs = await heartbeats.runs(call, found, offset + limit);
    return {
      logs: runs.slice(offset).map((run) => ({
        at: run.at.toISOString(),
        outcome: outcomeOf(run.state),
        reason: run.reason ?? undefined,
        attempts: run.attempt,
        session_key: run.session_key ?? undefined,
        turn_id: run.turn_id ?? undefined,
        text: run.text ?? undefined,
      })),
    };
  },
};

async function mine(heartbeats: OwnHeartbeats, call: RunningCall): Promise<OwnHeartbeat> {
  const found = await heartbeats.find(call);
  if (found) return found;
  throw new Failure('NotFound', 'you have no heartbeat here; set makes one');
}

function outcomeOf(state: string | null): string {
  return state === null || state === 'started' ? 'running' : state;
}

/** Null removes the field. */
function orNone(text: string | undefined): string | null | undefined {
  return text === '' ? null : text;
}

function shown(row: OwnHeartbeat): object {
  const { enabled, timing, message: prompt, session_key: session, heartbeat } = row;
  const interval = timing.kind === 'every' ? timing.every_seconds : undefined;
  return { enabled, interval, prompt, ...heartbeat, session, next_runs: row.next_runs };
}

function answer(value: object): ToolResult {
  return { ok: true, text: JSON.stringify(value) };
}

function wrong(message: string): Failure {
  return new Failure('Unprocessable', message);
}
