/**
 * One attempt at a call of a tool that a host runs. Each run and probe is an activity with an id that derives from the
 * call, started once. So an attempt that begins anew, on whichever worker, finds what earlier ones have begun.
 */
import { randomUUID } from 'node:crypto';
import { isStopped } from '#activities/attempt.ts';
import { openPayload, sealPayload } from '#domain/payload-seal.ts';
import { markOutside } from '#domain/text/outside-text.ts';
import { toolError, type ToolResult } from '#domain/tool.ts';
import type { RunningCall } from '#policy/define-tool.ts';
import type { ActivitiesOnce, ActivityOnce } from '#temporal/activity-once.ts';
import {
  HOST_WORK,
  hostQueues,
  queueOf,
  type HostRequest,
  type HostResult,
  hostWorkPlace,
} from './contract.ts';
import { hostResultSchema } from './schema.ts';
import { type ResolveOf, secretValues } from './secret-values.ts';
import type { CodeToolRow, HostAccess } from './store.ts';

export interface HostCall {
  /** Undefined when the host was deleted. */
  readonly readAccess: () => Promise<HostAccess | undefined>;
  readonly resolveOf: ResolveOf;
  readonly once: ActivitiesOnce;
  readonly row: CodeToolRow;
  readonly input: unknown;
  readonly call: RunningCall;
}

interface Attempt extends HostCall {
  readonly access: HostAccess;
  readonly secrets: HostRequest['secrets'];
  /** Milliseconds since the call was begun. */
  readonly age: number;
  readonly signal: AbortSignal;
}

/** Runs of a call whose host was lost before it took effect. */
const MAX_RUNS = 3;
/** How long a call waits for its host, which may be restarting. */
const WAIT_FOR_HOST_MS = 60_000;
/** How long a probe waits for a host that was lost. */
const WAIT_FOR_PROBE_MS = 10 * 60_000;
const PROBE_MS = 60_000;
const PROBE_TRIES = 10;
/** Extra time, so that the host's own clock ends a run first. */
const GRACE_MS = 5_000;
/** How long an attempt waits before it leaves the worker. */
const LOOK_MS = 60_000;
/** Seconds until a call is looked at again: a tenth of its age. */
const LATER_SECONDS = { min: 2, max: 60 };
/** Temporal keeps what is over for a day at least; after half of it, nothing starts that may have run already. */
const MAX_AGE_MS = 12 * 3_600_000;

export async function runOnHost(parts: HostCall): Promise<ToolResult> {
  const { call, row } = parts;
  const { outside } = call;
  if (outside?.isStopped) return cancel(parts);
  const access = await parts.readAccess();
  if (!access) return toolError('NotFound', `the tool host ${row.host} was deleted`);
  const since = outside?.left?.since ?? Date.now();
  // An attempt that is cut off leaves what the next one continues with.
  if (outside && !outside.left) await outside.keep({ since, asks: 0, task: runId(call, 1) });
  // One that only reads leaves nothing, so it is waited for.
  const look = outside ? AbortSignal.timeout(LOOK_MS) : call.signal;
  try {
    const secrets = await secretValues(parts.resolveOf, call.tenant, row.definition.secrets);
    const signal = AbortSignal.any([call.signal, look]);
    return await runUntilKnown({ ...parts, access, secrets, signal, age: Date.now() - since });
  } catch (error) {
    if (call.signal.aborted) {
      if (isStopped(call.signal)) return cancel(parts);
      throw error;
    }
    if (!look.aborted) throw error;
    const { min, max } = LATER_SECONDS;
    const tenth = Math.round((Date.now() - since) / 10_000);
    return { ok: true, text: '', pending: { later: Math.min(max, Math.max(min, tenth)) } };
  }
}

async function runUntilKnown(attempt: Attempt): Promise<ToolResult> {
  for (let run = 1; run <= MAX_RUNS; run += 1) {
    const access = run === 1 ? attempt.access : await attempt.readAccess();
    if (access === undefined || (run > 1 && access.revision !== attempt.row.revision))
      return changed(attempt);
    const outcome = await runOnce({ ...attempt, access }, run);
    if (typeof outcome === 'object') return shown(attempt, outcome);
    if (outcome === 'unsupported')
      return toolError('ExecutionFailed', 'tool hosts need Temporal Server 1.31 or later; nothing was done');
    if (outcome === 'unsent') return unsent(attempt, run);
    const result = await resultOfLost(attempt, run);
    if (result) return result;
  }
  return lostEachTime(attempt);
}

/** The result of a run whose process was lost; undefined when it may run again. */
async function resultOfLost(attempt: Attempt, run: number): Promise<ToolResult | undefined> {
  const { name, replay, probes } = attempt.row.definition;
  if (replay !== 'once') return undefined;
  const probed = probes ? await probeOnce(attempt, run) : undefined;
  if (probed === undefined || typeof probed === 'string')
    return toolError(
      'OutcomeUnknown',
      `the process that ran ${name} was lost while it ran; whether it took effect is not known`,
    );
  return 'nothing' in probed ? undefined : shown(attempt, probed);
}

function lostEachTime({ row: { definition } }: Attempt): ToolResult {
  const lost = `the process that ran ${definition.name} was lost ${MAX_RUNS} times`;
  return definition.replay === 'idempotent'
    ? toolError('OutcomeUnknown', `${lost}; it may have taken effect`)
    : toolError('ExecutionFailed', `${lost}; it took no effect`);
}

function unsent({ row: { host, definition } }: Attempt, run: number): ToolResult {
  const start = `start it with: npx tempoclaw tools serve --host ${host}`;
  return run > 1 && definition.replay === 'idempotent'
    ? toolError('OutcomeUnknown', `the tool host ${host} was lost and has not come back; ${start}`)
    : toolError('ExecutionFailed', `the tool host ${host} is not running, and nothing was done; ${start}`);
}

/** What was judged and approved is never run as something else. */
function changed({ row: { definition } }: Attempt): ToolResult {
  const { name, replay } = definition;
  return replay === 'idempotent'
    ? toolError('OutcomeUnknown', `the process that ran ${name} was lost, and ${name} was changed meanwhile`)
    : toolError(
        'PermissionDenied',
        `${name} was changed after the call had been judged; the call took no effect`,
      );
}

function shown({ row: { definition } }: Attempt, result: HostResult): ToolResult {
  const { name, outside } = definition;
  if ('nothing' in result) return toolError('ExecutionFailed', `${name} has returned nothing`);
  const mark = (text: string): string =>
    outside ? markOutside({ id: randomUUID(), source: name, text: text || '(nothing)' }) : text;
  return result.ok ? { ok: true, text: mark(result.text) } : toolError(result.code, mark(result.message));
}

function runOnce(attempt: Attempt, run: number) {
  const { timeout_seconds } = attempt.row.definition;
  return onHost(attempt, {
    id: runId(attempt.call, run),
    type: HOST_WORK.run,
    queue: 'runs',
    terms: {
      scheduleToStartTimeout: WAIT_FOR_HOST_MS,
      startToCloseTimeout: timeout_seconds * 1_000 + GRACE_MS,
      heartbeatTimeout: HOST_WORK.heartbeatMs,
      retry: { maximumAttempts: 1 },
    },
  });
}

/** It changes nothing, so that it may be tried again. */
function probeOnce(attempt: Attempt, run: number) {
  return onHost(attempt, {
    id: `${runId(attempt.call, run)}/probe`,
    type: HOST_WORK.probe,
    queue: 'probes',
    terms: {
      scheduleToStartTimeout: WAIT_FOR_PROBE_MS,
      startToCloseTimeout: PROBE_MS,
      heartbeatTimeout: HOST_WORK.heartbeatMs,
      retry: { maximumAttempts: PROBE_TRIES },
    },
  });
}

async function onHost(
  attempt: Attempt,
  work: Pick<ActivityOnce, 'id' | 'type' | 'terms'> & { readonly queue: 'runs' | 'probes' },
): Promise<HostResult | 'unsent' | 'unknown' | 'unsupported'> {
  const { access, once, row, input, secrets, call, signal, age } = attempt;
  const { agent, user, sessionKey: session, turnId: turn, callId, idempotencyKey } = call;
  const { name, timeout_seconds, language } = row.definition;
  const queue = queueOf(hostQueues(call.tenant, row.host, access.version)[work.queue], language);
  const context = { idempotencyKey, agent, user, session, turn, call: callId };
  const iv = crypto.getRandomValues(new Uint8Array(12));
  const request: HostRequest = { tool: name, input, secrets, context };
  const outcome = await once.run(
    {
      ...work,
      terms: age < MAX_AGE_MS + timeout_seconds * 1_000 ? work.terms : undefined,
      queue,
      summary: name,
      request: await sealPayload(access.key, hostWorkPlace(work.id, 'request'), iv, request),
    },
    signal,
  );
  if (typeof outcome === 'string') return outcome;
  // Another client of its queue may have sent it.
  return openPayload(access.key, hostWorkPlace(work.id, 'result'), outcome.result).then(
    (value) => hostResultSchema.safeParse(value).data ?? 'unknown',
    () => 'unknown' as const,
  );
}

function runId({ tenant, callId }: RunningCall, run: number): string {
  return `tool/${tenant}/${callId}/${run}`;
}

/** Tells the host to stop, if it can be reached; the call ends either way. */
async function cancel({ once, call }: HostCall): Promise<ToolResult> {
  const runs = Array.from({ length: MAX_RUNS }, (_, at) => runId(call, at + 1));
  // Those that have ended, or were never begun, cannot be cancelled.
  await Promise.allSettled(runs.map((id) => once.cancel(id)));
  return toolError('Cancelled', 'the call was stopped while it ran; what it had done by then stays done');
}
