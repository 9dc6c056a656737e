/** Work for a node that is a Temporal worker on a task queue of its own: an activity of no workflow, begun once under its id. */
import {
  ActivityExecutionAlreadyStartedError,
  ActivityExecutionFailedError,
  ActivityNotFoundError,
  isGrpcServiceError,
} from '@temporalio/client';
import { TimeoutFailure } from '@temporalio/common';
import { Failure } from '#domain/errors.ts';
import type { TemporalClients } from '#temporal/client.ts';
import { NODE_WORK } from './contract/node.ts';

export interface NodeWork {
  readonly id: string;
  readonly queue: string;
  /** Sealed, as is what comes of it. */
  readonly request: Uint8Array;
  /** What it may take, its waiting for the node with it; 0 or less when that is over: it is not begun any more. */
  readonly milliseconds: number;
}

export interface NodeQueues {
  /**
   * Begins it, or goes on waiting for it. `unsent`: the node has not taken it in time; `unknown`: it has, and does not say what came of
   * it; `unsupported`: the server is older than 1.31, and has no activities without a workflow. Throws Failures: `Unavailable` while
   * Temporal may still say what comes of it.
   */
  run(
    work: NodeWork,
    signal: AbortSignal,
  ): Promise<{ readonly result: Uint8Array } | 'unsent' | 'unknown' | 'unsupported'>;
  /** Nobody waits for it any more. */
  cancel(id: string): Promise<void>;
}

/** That the node's own clock ends it first. */
const GRACE_MS = 5_000;
/** Of gRPC. */
const UNIMPLEMENTED = 12;

function isUnsupported({ cause }: { readonly cause?: unknown }): boolean {
  if (!isGrpcServiceError(cause)) return false;
  const code: number = cause.code;
  return code === UNIMPLEMENTED;
}

export function nodeQueuesOf({
  activity,
  connection,
  ask,
}: Pick<TemporalClients, 'activity' | 'connection' | 'ask'>): NodeQueues {
  /** False where the server cannot. */
  async function start({ id, queue, request: asked, milliseconds }: NodeWork): Promise<boolean> {
    const options = {
      id,
      taskQueue: queue,
      args: [asked],
      idReusePolicy: 'REJECT_DUPLICATE',
      scheduleToStartTimeout: milliseconds,
      scheduleToCloseTimeout: milliseconds + GRACE_MS,
      heartbeatTimeout: NODE_WORK.heartbeatMs,
      retry: { maximumAttempts: 1 },
    } as const;
    return ask(async () => {
      try {
        await activity.start(NODE_WORK.type, options);
      } catch (error) {
        if (error instanceof Error && isUnsupported(error)) return false;
        if (!(error instanceof ActivityExecutionAlreadyStartedError)) throw error;
      }
      return true;
    });
  }

  return {
    async run(work, signal) {
      if (work.milliseconds > 0 && !(await start(work))) return 'unsupported';
      try {
        const handle = activity.getHandle<Uint8Array>(work.id);
        return { result: await connection.withAbortSignal(signal, () => handle.result()) };
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof ActivityExecutionFailedError) {
          const { cause } = error;
          const isUntaken = cause instanceof TimeoutFailure && cause.timeoutType === 'SCHEDULE_TO_START';
          return isUntaken ? 'unsent' : 'unknown';
        }
        // Else a server that never says would be asked for ever.
        if (error instanceof ActivityNotFoundError || work.milliseconds <= -GRACE_MS) return 'unknown';
        throw new Failure('Unavailable', 'Temporal does not answer; try again in a moment');
      }
    },
    cancel: (id) => ask(() => activity.getHandle(id).cancel('nobody waits for it')),
  };
}
