/**
 * Work that a local activity begins within a workflow task, since it is mostly over at once: that saves the server a task. What
 * is not over soon goes on as an activity on this worker's own task queue, which takes the running work over and begins nothing anew.
 */
import { ApplicationFailure, Context } from '@temporalio/activity';
import { within } from './within.ts';

/** One try, whichever activity it runs in. */
export interface Attempt {
  /** From 1. */
  readonly number: number;
  readonly signal: AbortSignal;
  readonly runId: string;
}

/** The task queue that only this worker polls. */
export interface OwnQueue {
  readonly name: string;
  /** So much of each kind may be begun and not over: who follows it then finds a slot at once. */
  readonly most: number;
}

export interface TakeOver<Input, Result> {
  readonly keyOf: (input: Input) => string;
  readonly work: (input: Input, attempt: Attempt) => Promise<Result>;
  /** Messages and stops wait for the workflow task to end, and so for the work in it. */
  readonly patienceMs: number;
  /** See OwnQueue. What would be more waits for a slot, as an activity like any other. */
  readonly most: number;
  /** Attempts that were made before this activity's own. */
  readonly tried?: (input: Input) => number;
  /** Work that nobody follows is stopped after this. */
  readonly unfollowedMs?: number;
}

/** As long as the activity that follows is waited for (`followOptions`). */
const UNFOLLOWED_MS = 10_000;

interface Running<Result> {
  readonly result: Promise<Result>;
  readonly stop: AbortController;
  unfollowed?: NodeJS.Timeout;
}

/** The activity; undefined from a local one whose work goes on. */
export function createTakeOver<Input, Result>({
  keyOf,
  work,
  patienceMs,
  most,
  tried = () => 0,
  unfollowedMs = UNFOLLOWED_MS,
}: TakeOver<Input, Result>): (input: Input) => Promise<Result | undefined> {
  const running = new Map<string, Running<Result>>();
  let unfinished = 0;

  function begin(key: string, input: Input, attempt: Attempt): Running<Result> {
    if (unfinished >= most)
      throw ApplicationFailure.retryable('as much as may be is begun in this worker', 'Unavailable');
    unfinished += 1;
    const stop = new AbortController();
    const result = work(input, { ...attempt, signal: stop.signal }).finally(() => (unfinished -= 1));
    const begun = { stop, result };
    // Who goes on with it hears of it; else nobody waits for it.
    result.catch(() => undefined);
    running.set(key, begun);
    return begun;
  }

  function forget(key: string, begun: Running<Result>): void {
    clearTimeout(begun.unfollowed);
    if (running.get(key) === begun) running.delete(key);
  }

  /** The server asks twice when it has not heard of the end of a workflow task. */
  async function inTask(key: string, input: Input, attempt: Attempt): Promise<Result | undefined> {
    const begun = running.get(key) ?? begin(key, input, attempt);
    clearTimeout(begun.unfollowed);
    const over = begun.result.then((result) => ({ result }));
    const soon = await follow(begun, attempt.signal, () => within(patienceMs, over)).catch(
      (error: unknown) => {
        forget(key, begun);
        throw error;
      },
    );
    if (!soon) {
      begun.unfollowed = setTimeout(() => {
        forget(key, begun);
        begun.stop.abort(new Error('nobody went on with this'));
      }, unfollowedMs).unref();
      return undefined;
    }
    forget(key, begun);
    return soon.result;
  }

  function takeOver(key: string, input: Input, attempt: Attempt): Promise<Result> {
    const begun = running.get(key);
    if (begun) {
      forget(key, begun);
      return follow(begun, attempt.signal, () => begun.result);
    }
    return work(input, attempt);
  }

  return async (input) => {
    const attempt = attemptNow(tried(input));
    const run = Context.current().info.isLocal ? inTask : takeOver;
    return run(keyOf(input), input, attempt);
  };
}

/** `before`: attempts that were made before this activity's own. */
export function attemptNow(before = 0): Attempt {
  const { info, cancellationSignal: signal } = Context.current();
  return { number: info.attempt + before, signal, runId: info.workflowExecution?.runId ?? '' };
}

/** For as long as it waits, what stops the activity stops the work. */
async function follow<Result, Waited>(
  { stop }: Running<Result>,
  signal: AbortSignal,
  wait: () => Promise<Waited>,
): Promise<Waited> {
  const pass = (): void => stop.abort(signal.reason);
  if (signal.aborted) pass();
  signal.addEventListener('abort', pass);
  try {
    return await wait();
  } finally {
    signal.removeEventListener('abort', pass);
  }
}
