/**
 * Work for a program that is a Temporal worker on a task queue of its own: an activity without a workflow, started once
 * under its id.
 */
import {
  ActivityExecutionAlreadyStartedError,
  ActivityExecutionFailedError,
  ActivityNotFoundError,
  type ActivityOptions,
  isGrpcServiceError,
} from '@temporalio/client';
import { ApplicationFailure, TimeoutFailure } from '@temporalio/common';
import { Failure } from '#domain/errors.ts';
import type { TemporalClients } from './client.ts';

export interface ActivityOnce {
  readonly id: string;
  readonly type: string;
  readonly queue: string;
  /** Sealed, as its result is (domain/payload-seal.ts): Temporal stores it, and the program does not have our keys. */
  readonly request: Uint8Array;
  /** Time limits and retries. Undefined when it may no longer start: then it is only looked for. */
  readonly terms:
    | Pick<
        ActivityOptions,
        | 'scheduleToStartTimeout'
        | 'scheduleToCloseTimeout'
        | 'startToCloseTimeout'
        | 'heartbeatTimeout'
        | 'retry'
      >
    | undefined;
  /** For people in the web UI. */
  readonly summary?: string;
  /** Temporal had its time to report the result: while it does not answer, the outcome is unknown. */
  readonly isOver?: boolean;
}

/**
 * `unsent`: no program has taken it in time. `unknown`: one has, and does not report the result. `unsupported`: the
 * server is older than 1.31, and has no activities without a workflow.
 */
export type OnceOutcome = { readonly result: Uint8Array } | 'unsent' | 'unknown' | 'unsupported';

export interface ActivitiesOnce {
  /**
   * Starts it, or continues to wait for it. Safe to repeat. @throws Failure `Unavailable` while Temporal may still
   * report the result, or the reason of the signal
   */
  run(work: ActivityOnce, signal: AbortSignal): Promise<OnceOutcome>;
  /** Called when nothing waits for it any more. */
  cancel(id: string): Promise<void>;
}

/** Type of the failure of an activity that its program could not start: as if it was never sent. */
export const NOT_STARTED = 'NotStarted';

/** A code of gRPC. */
const UNIMPLEMENTED = 12;

function isUnsupported({ cause }: { readonly cause?: unknown }): boolean {
  if (!isGrpcServiceError(cause)) return false;
  const code: number = cause.code;
  return code === UNIMPLEMENTED;
}

function isUnsent(cause: unknown): boolean {
  return (
    (cause instanceof TimeoutFailure && cause.timeoutType === 'SCHEDULE_TO_START') ||
    (cause instanceof ApplicationFailure && cause.type === NOT_STARTED)
  );
}

export function activitiesOnceOf({
  activity,
  connection,
  ask,
}: Pick<TemporalClients, 'activity' | 'connection' | 'ask'>): ActivitiesOnce {
  /** Returns false if the server does not support it. */
  async function start({ id, type, queue, request, summary, terms }: ActivityOnce): Promise<boolean> {
    const options = {
      ...terms,
      id,
      taskQueue: queue,
      args: [request],
      summary,
      idReusePolicy: 'REJECT_DUPLICATE',
    } as ActivityOptions;
    return ask(async () => {
      try {
        await activity.start(type, options);
      } catch (error) {
        if (error instanceof Error && isUnsupported(error)) return false;
        if (!(error instanceof ActivityExecutionAlreadyStartedError)) throw error;
      }
      return true;
    });
  }

  return {
    async run(work, signal) {
      if (work.terms && !(await start(work))) return 'unsupported';
      try {
        const handle = activity.getHandle<Uint8Array>(work.id);
        return { result: await connection.withAbortSignal(signal, () => handle.result()) };
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof ActivityExecutionFailedError) {
          const { cause } = error;
          return isUnsent(cause) ? 'unsent' : 'unknown';
        }
        // Otherwise a server that never reports it would be polled forever.
        if (error instanceof ActivityNotFoundError || work.isOver) return 'unknown';
        throw new Failure('Unavailable', 'Temporal does not answer; try again in a moment');
      }
    },
    cancel: (id) => ask(() => activity.getHandle(id).cancel('nobody waits for it')),
  };
}
