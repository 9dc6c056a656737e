/** Every time-out and retry rule of the workflows, each with its reason. */
import type { ActivityOptions, LocalActivityOptions } from '@temporalio/workflow';
import type { ShownGate } from '#domain/gate.ts';
import type { PlannedCall } from '#domain/turn.ts';

/**
 * A worker that dies is noticed after this; activities beat three times as often from a timer (workers/). Short for model
 * calls, so that a turn goes on soon (DESIGN §7): a worker that was only busy costs one repeated call.
 */
const MODEL_HEARTBEAT = '2 seconds';

/** Longer for tools: one whose worker is taken for dead may not be run again, and its outcome is unknown (DU-2). */
const TOOL_HEARTBEAT = '4 seconds';

/** Which tries are worth it is decided where the fact is known: activities throw non-retryable failures (DESIGN §5). */
const RETRY = {
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

const BEGINNING: LocalActivityOptions = {
  // It gives up waiting by itself long before.
  startToCloseTimeout: '1 minute',
  retry: { maximumAttempts: 1 },
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
};

/** One try within the workflow task; what goes wrong or takes longer is tried as an activity of its own. */
export function inlineModelOptions(step: number): LocalActivityOptions {
  return { ...BEGINNING, summary: `step ${step}` };
}

/** The same for a tool that is mostly over at once. */
export function inlineToolOptions(call: PlannedCall): LocalActivityOptions {
  return { ...BEGINNING, summary: call.summary };
}

/** One try of what goes on where it was begun; should that worker be gone, it is tried as any other activity. */
export function followOptions(queue: string, options: ActivityOptions): ActivityOptions {
  return {
    ...options,
    taskQueue: queue,
    scheduleToStartTimeout: '10 seconds',
    retry: { maximumAttempts: 1 },
  };
}

/** A tool that reaches outside or takes long. Retries are safe: the claim decides (DU-2). */
export function toolOptions(call: PlannedCall): ActivityOptions {
  return {
    // The tool's own time-out comes first and gives the better message; this one is for a worker that hangs.
    startToCloseTimeout: (call.timeout + 30) * 1000,
    heartbeatTimeout: TOOL_HEARTBEAT,
    retry: RETRY,
    cancellationType: 'WAIT_CANCELLATION_COMPLETED',
    summary: call.summary,
  };
}

/** A short tool: its row is its durable result, so it needs no task of its own. */
export function localToolOptions(call: PlannedCall): LocalActivityOptions {
  return { startToCloseTimeout: (call.timeout + 5) * 1000, retry: RETRY, summary: call.summary };
}

/** Rows that end a turn or settle an approval: short statements that must come true, however long Postgres is away. */
export const RECORD: LocalActivityOptions = { startToCloseTimeout: '40 seconds', retry: RETRY };

/** A message to another session's workflow, tried until it is taken: results must arrive (SA-4). */
export const ANNOUNCEMENT: ActivityOptions = {
  startToCloseTimeout: '1 minute',
  retry: { ...RETRY, maximumInterval: '30 seconds' },
  summary: 'announces the result',
};

/** A run of a schedule, tried until it has begun: none is lost. */
export const SCHEDULED: ActivityOptions = {
  startToCloseTimeout: '1 minute',
  heartbeatTimeout: TOOL_HEARTBEAT,
  retry: { ...RETRY, maximumInterval: '30 seconds' },
  summary: 'begins the run',
};

/** Rows and messages between the turns of work that was given away. */
export const WORK: ActivityOptions = { startToCloseTimeout: '40 seconds', retry: RETRY };

/** A command that judges (DE-6). Its first verdict is a row, so a repeat only repeats what nobody has read. */
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

/** Some documents at a time; which are left is in the rows. */
export const INDEXING: ActivityOptions = {
  startToCloseTimeout: '5 minutes',
  heartbeatTimeout: TOOL_HEARTBEAT,
  retry: { ...RETRY, maximumInterval: '1 minute' },
};

/** Looks at many rows and workflows; what fails is done by the next sweep. */
export const SWEEPING: ActivityOptions = {
  startToCloseTimeout: '5 minutes',
  heartbeatTimeout: TOOL_HEARTBEAT,
  retry: { maximumAttempts: 1 },
};

/** Many rows and runs; tried until it is done, since somebody has a right to it. */
export const FORGETTING: ActivityOptions = {
  startToCloseTimeout: '30 minutes',
  heartbeatTimeout: TOOL_HEARTBEAT,
  retry: { ...RETRY, maximumInterval: '1 minute' },
};

/** One attempt at an address, which has its own shorter limit; that it fails is an answer, so what is retried is Postgres or the worker. */
export const DELIVERING: ActivityOptions = {
  startToCloseTimeout: '2 minutes',
  heartbeatTimeout: TOOL_HEARTBEAT,
  retry: RETRY,
};
