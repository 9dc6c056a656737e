/** Every timeout and retry rule of the workflows, each with its reason. */
import type { ActivityOptions, LocalActivityOptions } from '@temporalio/workflow';
import type { ShownGate } from '#domain/gate/gate.ts';
import type { PlannedCall } from '#domain/turn/turn-activities.ts';

/**
 * Other workers find a dead one by its beat within three seconds and fail its model calls (workers/watch-workers.ts).
 * This is for when they cannot, because many calls wait long for their models: each heartbeat is a write of the server.
 */
const MODEL_HEARTBEAT = '30 seconds';

/**
 * How soon a worker's death is detected; a timer (workers/) sends heartbeats three times as often. It is not too short:
 * a tool whose worker is believed dead may not be run again, and its outcome is unknown (DU-2).
 */
const TOOL_HEARTBEAT = '4 seconds';

/** The code that knows the fact decides whether a retry makes sense: activities throw non-retryable failures. */
export const RETRY = {
  initialInterval: '200 milliseconds',
  backoffCoefficient: 2,
  maximumInterval: '10 seconds',
} as const;

/** One model call with its streaming; ten minutes is the longest that providers keep one open. */
export function modelOptions(step: number): ActivityOptions {
  return {
    startToCloseTimeout: '10 minutes',
    heartbeatTimeout: MODEL_HEARTBEAT,
    retry: RETRY,
    // The half-paid answer of a stopped call is still recorded.
    cancellationType: 'WAIT_CANCELLATION_COMPLETED',
    summary: `step ${step}`,
  };
}

/** One attempt of work that continues where it started; if that worker is gone, it runs as an ordinary activity. */
export function followOptions(queue: string, options: ActivityOptions): ActivityOptions {
  return {
    ...options,
    taskQueue: queue,
    scheduleToStartTimeout: '10 seconds',
    retry: { maximumAttempts: 1 },
  };
}

/** For a tool that calls a service or takes long. Retries are safe: the claim decides (DU-2). */
export function toolOptions(call: PlannedCall): ActivityOptions {
  return {
    // The tool's own timeout comes first and gives the better message; this one is for a worker that hangs.
    startToCloseTimeout: (call.timeout + 30) * 1000,
    heartbeatTimeout: TOOL_HEARTBEAT,
    retry: RETRY,
    cancellationType: 'WAIT_CANCELLATION_COMPLETED',
    summary: call.summary,
  };
}

/**
 * For rows that end a turn or settle an approval: short statements that must succeed, however long Postgres is
 * unavailable. A frozen tenant is waited for in the workflow (steps/approval-records.ts).
 */
export const RECORD: LocalActivityOptions = {
  startToCloseTimeout: '40 seconds',
  retry: { ...RETRY, nonRetryableErrorTypes: ['TenantFrozen'] },
};

/** For an activity that does nothing, so that its worker is lost when it takes long (steps/keep-update.ts). */
export const KEPT_UPDATE: ActivityOptions = {
  startToCloseTimeout: '3 seconds',
  retry: RETRY,
  summary: 'the message is kept',
};

/** For a notice that only makes a stop quicker. */
export const HASTENED: LocalActivityOptions = {
  startToCloseTimeout: '2 seconds',
  retry: { maximumAttempts: 1 },
};

/** For a message to another session's workflow, retried until it is accepted: results must arrive (SA-4). */
export const ANNOUNCEMENT: ActivityOptions = {
  startToCloseTimeout: '1 minute',
  retry: { ...RETRY, maximumInterval: '30 seconds' },
  summary: 'announces the result',
};

/** For a run of a schedule, retried until it has started: none is lost. */
export const SCHEDULED: ActivityOptions = {
  startToCloseTimeout: '1 minute',
  heartbeatTimeout: TOOL_HEARTBEAT,
  retry: { ...RETRY, maximumInterval: '30 seconds' },
  summary: 'begins the run',
};

/** For a look at a turn that others wait for; the workflow looks again. */
export const FOLLOWED: ActivityOptions = {
  startToCloseTimeout: '1 minute',
  heartbeatTimeout: TOOL_HEARTBEAT,
  retry: { ...RETRY, maximumInterval: '30 seconds' },
  summary: 'follows the turn',
};

/** For rows and messages between the turns of delegated work. */
export const WORK: ActivityOptions = { startToCloseTimeout: '40 seconds', retry: RETRY };

/** For a command that judges (DE-6). Its first verdict is a row, so a repeat only repeats work that nobody has read. */
export function gateOptions({
  timeout_seconds,
  name,
}: Pick<ShownGate, 'timeout_seconds' | 'name'>): ActivityOptions {
  return {
    startToCloseTimeout: (timeout_seconds + 30) * 1000,
    heartbeatTimeout: TOOL_HEARTBEAT,
    retry: RETRY,
    cancellationType: 'WAIT_CANCELLATION_COMPLETED',
    summary: `gate: ${name}`,
  };
}

/** For some documents at a time; the rows show which remain. */
export const INDEXING: ActivityOptions = {
  startToCloseTimeout: '5 minutes',
  heartbeatTimeout: TOOL_HEARTBEAT,
  retry: { ...RETRY, maximumInterval: '1 minute' },
};

/** For a copy of files and rows, which a repeat finds or makes again. */
export const FORKING: ActivityOptions = {
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout: TOOL_HEARTBEAT,
  retry: RETRY,
  summary: 'copies files and conversation',
};

/** For checks of many rows and workflows; the next sweep repeats what fails. */
export const SWEEPING: ActivityOptions = {
  startToCloseTimeout: '5 minutes',
  heartbeatTimeout: TOOL_HEARTBEAT,
  retry: { maximumAttempts: 1 },
};

/** For many rows and runs; retried until all is done, because somebody has a right to it. */
export const FORGETTING: ActivityOptions = {
  startToCloseTimeout: '30 minutes',
  heartbeatTimeout: TOOL_HEARTBEAT,
  retry: { ...RETRY, maximumInterval: '1 minute' },
};
