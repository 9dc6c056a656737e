/** cron: messages to the agent itself at future times, on Temporal Schedules. */
import { z } from 'zod';
import {
  defineTool,
  type MadeCall,
  type Redirect,
  type RunningCall,
  textField,
} from '#policy/define-tool.ts';
import type { OwnSchedules, ScheduleChange, ShownSchedule } from '../activities/own-schedules.ts';
import { Failure } from '#domain/errors.ts';
import { isName } from '#domain/ids.ts';
import { OVERLAPS, SCHEDULE_LIMITS } from '../contract/schedule.ts';
import type { Timing } from '../schema/schedule.ts';
import { toolError, type ToolResult } from '#domain/tool.ts';

const timing = z
  .strictObject({
    kind: z.enum(['at', 'every', 'cron']),
    atMs: z.number().optional().describe('at: when, in milliseconds since 1970'),
    at: textField(40, 'at: the same in ISO 8601, with its offset').optional(),
    everyMs: z.number().optional().describe('every: milliseconds between runs; at least 10000'),
    expr: textField(
      200,
      'cron: minute hour day-of-month month day-of-week; a sixth field in front is the second',
    ).optional(),
    tz: textField(64, 'cron: IANA time zone such as Europe/Berlin; UTC unless given').optional(),
  })
  .describe('When it runs');

const fields = {
  schedule: timing,
  message: z
    .string()
    .min(1)
    .max(SCHEDULE_LIMITS.message)
    .describe('What you are told then, with all you need to know'),
  deliver: z
    .union([z.boolean(), z.enum(['session', 'none'])])
    .describe(
      'session, or true, as by default: said and answered in this session; none: in one of the run’s own',
    ),
  deleteAfterRun: z.boolean().describe('Remove it after its first run'),
  enabled: z.boolean().describe('false: paused'),
  overlap: z.enum(OVERLAPS).describe('When an earlier run still goes on: skip this one, or allow it'),
  catchupSeconds: z
    .int()
    .min(10)
    .max(SCHEDULE_LIMITS.catchup)
    .describe('A run that is later than this is left out; 3600 by default'),
  channel: textField(200, 'That of this conversation: its session’s chat is told'),
  to: textField(200, 'The chat of this conversation'),
  agentId: textField(64, 'Your own key: nobody makes schedules for another agent'),
};
const job = z.strictObject({ name: textField(64, 'A slug, new among yours'), ...fields }).partial({
  deliver: true,
  deleteAfterRun: true,
  enabled: true,
  overlap: true,
  catchupSeconds: true,
  channel: true,
  to: true,
  agentId: true,
});
const patch = z.strictObject(fields).partial();

const input = z.object({
  action: z
    .enum(['status', 'list', 'add', 'update', 'remove', 'run', 'runs'])
    .describe('runs: how the last ones went; run: begin one now'),
  includeDisabled: z.boolean().default(false).describe('list: those that are paused too'),
  job: job.optional().describe('add: the new one'),
  jobId: textField(100, 'update, remove, run, runs: its id, or its name').optional(),
  patch: patch.optional().describe('update: what changes'),
  runMode: z
    .enum(['due', 'force'])
    .default('force')
    .describe('run: only when it is due, or whatever the time'),
});

type Input = z.infer<typeof input>;

const READS: ReadonlySet<unknown> = new Set(['status', 'list', 'runs']);

export const tool = defineTool<Input, { readonly schedules: OwnSchedules }>({
  name: 'cron',
  description:
    'Be sent a message at a time to come, as a reminder or a recurring job: once, at intervals, or by a cron expression. It survives restarts; do not wait for it.',
  keywords:
    'alarm appointment at later tonight tomorrow daily weekly monthly hourly every day morning evening hour minutes periodic repeat timer calendar nudge ping notify remember automate job trigger meeting deadline birthday recurring recur weekday event notification postpone snooze cancel nightly wake seven o clock monday tuesday wednesday thursday friday saturday sunday first each year annually regularly',
  group: 'automation',
  // Ids are derived from the call.
  replay: 'idempotent',
  onlyReads: ({ action }) => READS.has(action),
  input,
  limits: { duration: 'short', timeoutSeconds: 10 },
  summary: ({ action, job: made, jobId }) => [action, made?.name ?? jobId].filter(Boolean).join(' '),
  parameterAliases: { id: 'jobId', job_id: 'jobId' },
  inverse,
  async run({ schedules }, args, call) {
    try {
      return await ACTIONS[args.action](schedules, args, call);
    } catch (error) {
      if (!(error instanceof Failure) || error.type === 'Unavailable') throw error;
      return toolError(error.type === 'NotFound' ? 'NotFound' : 'InvalidArgs', error.message);
    }
  },
});

/** An added job is removed; of a changed or removed one, nobody knows what it was before. */
function inverse({ action }: Readonly<Record<string, unknown>>, made: MadeCall): Redirect | undefined {
  if (action !== 'add' || made.isUncertain) return undefined;
  const jobId = /^\{"jobId":"([^"]+)"/.exec(made.result)?.[1];
  return jobId === undefined ? undefined : { tool: 'cron', args: { action: 'remove', jobId } };
}

type Action = (schedules: OwnSchedules, args: Input, call: RunningCall) => Promise<ToolResult>;

const ACTIONS: Readonly<Record<Input['action'], Action>> = {
  async status(schedules, _input, call) {
    const all = await schedules.list(call);
    const [next] = all.flatMap((row) => row.next_runs.slice(0, 1)).toSorted();
    return answer({
      jobs: all.length,
      enabled: all.filter((row) => row.enabled).length,
      next_run: next ?? null,
    });
  },
  async list(schedules, { includeDisabled }, call) {
    const all = await schedules.list(call);
    return answer({ jobs: all.filter((row) => includeDisabled || row.enabled).map(shown) });
  },
  async add(schedules, { job: request }, call) {
    if (!request) throw wrong('job is required for add');
    const { name, schedule, message } = request;
    if (!isName(name)) throw wrong('job.name: 1 to 64 letters, digits, _ or -');
    const change = changeOf({ deliver: true, ...request }, call);
    const added = await schedules.add(call, {
      delete_after_run: false,
      enabled: true,
      overlap: 'skip',
      catchup_seconds: 3_600,
      ...change,
      deliver: change.deliver ?? 'none',
      session: change.session ?? undefined,
      allowed_tools: undefined,
      name,
      schedule: timingOf(schedule),
      message,
    });
    return answer(shown(added));
  },
  async update(schedules, { jobId, patch: request }, call) {
    if (!request || Object.keys(request).length === 0) throw wrong('patch is required for update');
    return answer(shown(await schedules.change(call, idOf(jobId), changeOf(request, call))));
  },
  async remove(schedules, { jobId }, call) {
    await schedules.remove(call, idOf(jobId));
    return answer({ removed: jobId });
  },
  async run(schedules, { jobId, runMode }, call) {
    const id = idOf(jobId);
    if (runMode === 'due') {
      const [next = null] = (await schedules.find(call, id)).next_runs;
      return answer({ ran: false, reason: 'what is due begins by itself', next_run: next });
    }
    await schedules.runNow(call, id);
    return answer({ ran: true, jobId: id });
  },
  async runs(schedules, { jobId }, call) {
    const runs = (await schedules.runs(call, idOf(jobId))).map((run) => ({
      at: run.at.toISOString(),
      status: run.turn_status ?? run.state ?? 'starting',
      reason: run.reason ?? undefined,
      session_key: run.session_key ?? undefined,
      turn_id: run.turn_id ?? undefined,
      text: run.text ?? undefined,
    }));
    return answer({ runs });
  },
};

function answer(value: object): ToolResult {
  return { ok: true, text: JSON.stringify(value) };
}

function wrong(message: string): Failure {
  return new Failure('Unprocessable', message);
}

function idOf(jobId: string | undefined): string {
  if (jobId === undefined) throw wrong('jobId is required');
  return jobId;
}

function shown({ id, timing: schedule, ...row }: ShownSchedule): object {
  return { jobId: id, ...row, schedule };
}

function changeOf(args: z.infer<typeof patch>, call: RunningCall): ScheduleChange {
  refuseOthers(args, call);
  const { schedule, deliver, deleteAfterRun, catchupSeconds, message, enabled, overlap } = args;
  const to = deliver === true || deliver === 'session' ? ('session' as const) : ('none' as const);
  const change: ScheduleChange = {
    schedule: schedule && timingOf(schedule),
    message,
    enabled,
    overlap,
    deliver: deliver === undefined ? undefined : to,
    session: deliver === undefined || to === 'none' ? undefined : call.sessionKey,
    delete_after_run: deleteAfterRun,
    catchup_seconds: catchupSeconds,
  };
  return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
}

/** Refuses another agent's, or one that posts elsewhere. */
function refuseOthers(request: z.infer<typeof patch>, { agent, channel, chatId }: RunningCall): void {
  if (request.agentId !== undefined && request.agentId !== agent)
    throw wrong(`agentId: you are ${agent}; only ${request.agentId} itself makes its schedules`);
  const isHere = (request.channel ?? channel) === channel && (request.to ?? chatId) === chatId;
  if (!isHere)
    throw wrong(
      'channel: a schedule tells the chat in which it was made, and no other; deliver "session" says it here, "none" nowhere',
    );
}

function hasOffset(time: string): boolean {
  return z.iso.datetime({ offset: true }).safeParse(time).success;
}

function timingOf({ kind, atMs, at, everyMs, expr, tz = 'UTC' }: z.infer<typeof timing>): Timing {
  switch (kind) {
    case 'at': {
      // Without its offset it would be a time of the worker's own zone.
      const text = atMs === undefined && at !== undefined && hasOffset(at) ? at : Number.NaN;
      const when = new Date(atMs ?? text);
      if (Number.isNaN(when.getTime()))
        throw wrong(
          'schedule: at needs atMs, or at in ISO 8601 with its offset, such as 2026-05-01T09:00:00+02:00',
        );
      return { kind, at: when.toISOString() };
    }
    case 'every': {
      const seconds = (everyMs ?? 0) / 1000;
      const { gap, catchup } = SCHEDULE_LIMITS;
      if (!Number.isInteger(seconds) || seconds < gap || seconds > catchup)
        throw wrong(`schedule: every needs everyMs, whole seconds from ${gap * 1000} to ${catchup * 1000}`);
      return { kind, every_seconds: seconds };
    }
    case 'cron':
      if (expr === undefined) throw wrong('schedule: cron needs expr, such as "0 9 * * 1-5"');
      return { kind, expr, tz };
  }
}
