/**
 * Work for a node that is a Temporal worker on a task queue of its own: an activity without a workflow, started once
 * under its id.
 */
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
  /** Sealed, as its result is. */
  readonly request: Uint8Array;
  /**
   * What it may take, including its wait for the node. With 0 or less, the time is over, and it does not start any
   * more.
   */
  readonly milliseconds: number;
}

export interface NodeQueues {
  /**
   * Starts it, or continues to wait for it. `unsent` means that the node has not taken it in time. `unknown` means that
   * it has, and does not report the result. `unsupported` means that the server is older than 1.31, and has no
   * activities without a workflow. Throws Failures: `Unavailable` while Temporal may still report the result.
   */
  run(
    work: NodeWork,
    signal: AbortSignal,
  ): Promise<{ readonly result: Uint8Array } | 'unsent' | 'unknown' | 'unsupported'>;
  /** Called when nothing waits for it any more. */
  cancel(id: string): Promise<void>;
}

/** Extra time, so that the node's own clock ends it first. */
const GRACE_MS = 5_000;
/** A code of gRPC. */
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
  /** Returns false if the server does not support it. */
  async function start({ id, queue, request, milliseconds }: NodeWork): Promise<boolean> {
    const options = {
      id,
      taskQueue: queue,
      args: [request],
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
        // Otherwise a server that never reports it would be polled forever.
        if (error instanceof ActivityNotFoundError || work.milliseconds <= -GRACE_MS) return 'unknown';
        throw new Failure('Unavailable', 'Temporal does not answer; try again in a moment');
      }
    },
    cancel: (id) => ask(() => activity.getHandle(id).cancel('nobody waits for it')),
  };
}
