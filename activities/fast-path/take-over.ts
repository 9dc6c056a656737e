/**
 * Work that a local activity begins within a workflow task, since it is mostly over at once: that saves the server a task. What
 * is not over soon goes on as an activity on this worker's own task queue, which takes the running work over and begins nothing anew.
 */
import { ApplicationFailure, CancelledFailure, Context } from '@temporalio/activity';
import { within } from './within.ts';

/** One try, whichever activity it runs in. */
export interface Attempt<Input = unknown> {
  /** From 1. */
  readonly number: number;
  readonly signal: AbortSignal;
  readonly runId: string;
  /**
   * How a workflow task asks that waits for it now; undefined when none does. What the result asks for comes next there, before
   * anybody's word.
   */
  readonly awaitedBy: () => Input | undefined;
}

/** The task queue that only this worker polls. */
export interface OwnQueue {
  readonly name: string;
  /** So much of each kind may be begun and not over: who follows it then finds a slot at once. */
  readonly most: number;
}

type Work<Input, Result> = (input: Input, attempt: Attempt<Input>) => Promise<Result>;

export interface TakeOverOptions<Input, Result> {
  readonly keyOf: (input: Input) => string;
  readonly work: Work<Input, Result>;
  /**
   * How long a workflow task waits for the work in it: messages and stops wait for its end. An activity that has none follows
   * nothing: it brings the next workflow task, in which the work can be waited for again.
   */
  readonly patienceMs: (input: Input) => number;
  /** See OwnQueue. What would be more waits for a slot, as an activity like any other. */
  readonly most: number;
  /** Attempts that were made before this activity's own. */
  readonly tried?: (input: Input) => number;
  /** Work that nobody follows is stopped after this. */
  readonly unfollowedMs?: number;
}

export interface TakeOver<Input, Result> {
  /** The activity; undefined from a local one whose work goes on. */
  readonly run: (input: Input) => Promise<Result | undefined>;
  /** A place for work that begins before its activity, which then follows it; undefined when there is none. */
  readonly reserve: () => Place<Input, Result> | undefined;
  /** Stops what nobody follows and was begun for such an input; resolves when it is over. */
  readonly endAll: (isMeant: (input: Input) => boolean) => Promise<void>;
}

/** To be used or given up. */
export interface Place<Input, Result> {
  /** Does `work` in place of what the activity does by itself. */
  begin(input: Input, runId: string, work?: Work<Input, Result>): void;
  giveUp(): void;
}

/** The message of the CancelledFailure that a signal is aborted with when the workflow cancels its activity; Temporal's word. */
export const STOPPED = 'CANCELLED';

/** As long as the activity that follows is waited for (`followOptions`). */
const UNFOLLOWED_MS = 10_000;

interface Running<Input, Result> {
  readonly input: Input;
  readonly result: Promise<Result>;
  readonly stop: AbortController;
  awaitedBy: Input | undefined;
  unfollowed?: NodeJS.Timeout;
}

export function createTakeOver<Input, Result>({
  keyOf,
  work,
  patienceMs,
  most,
  tried = () => 0,
  unfollowedMs = UNFOLLOWED_MS,
}: TakeOverOptions<Input, Result>): TakeOver<Input, Result> {
  const running = new Map<string, Running<Input, Result>>();
  let places = most;

  /** Takes a place that the caller has made sure of. */
  function begin(
    input: Input,
    first: Pick<Attempt, 'number' | 'runId'>,
    job: Work<Input, Result>,
  ): Running<Input, Result> {
    const stop = new AbortController();
    const awaitedBy = (): Input | undefined => begun.awaitedBy;
    const begun: Running<Input, Result> = {
      input,
      stop,
      awaitedBy: undefined,
      // Later than `begun` is there.
      result: Promise.resolve().then(() => job(input, { ...first, signal: stop.signal, awaitedBy })),
    };
    const over = (): void => void (places += 1);
    // Who goes on with it hears of what goes wrong; else nobody waits for it.
    begun.result.then(over, over);
    running.set(keyOf(input), begun);
    return begun;
  }

  function beginInTask(input: Input, attempt: Attempt<Input>): Running<Input, Result> {
    if (places === 0)
      throw ApplicationFailure.retryable('as much as may be is begun in this worker', 'Unavailable');
    places -= 1;
    return begin(input, attempt, work);
  }

  function forget(key: string, begun: Running<Input, Result>): void {
    clearTimeout(begun.unfollowed);
    if (running.get(key) === begun) running.delete(key);
  }

  function leave(key: string, begun: Running<Input, Result>): void {
    begun.awaitedBy = undefined;
    begun.unfollowed = setTimeout(() => {
      forget(key, begun);
      begun.stop.abort(new Error('nobody went on with this'));
    }, unfollowedMs).unref();
  }

  /** The server asks twice when it has not heard of the end of a workflow task. */
  async function inTask(key: string, input: Input, attempt: Attempt<Input>): Promise<Result | undefined> {
    const begun = running.get(key) ?? beginInTask(input, attempt);
    clearTimeout(begun.unfollowed);
    const patience = patienceMs(input);
    // Who does not wait goes on before the work does.
    begun.awaitedBy = patience > 0 ? input : undefined;
    const over = begun.result.then((result) => ({ result }));
    const soon = await follow(begun, attempt.signal, () => within(patience, over)).catch((error: unknown) => {
      forget(key, begun);
      throw error;
    });
    if (!soon) {
      leave(key, begun);
      return undefined;
    }
    forget(key, begun);
    return soon.result;
  }

  async function asTask(key: string, input: Input, attempt: Attempt<Input>): Promise<Result | undefined> {
    if (patienceMs(input) === 0) return undefined;
    const begun = running.get(key);
    if (begun) {
      forget(key, begun);
      return follow(begun, attempt.signal, () => begun.result);
    }
    return work(input, attempt);
  }

  return {
    async run(input) {
      const attempt = attemptNow(input, tried(input));
      return Context.current().info.isLocal
        ? inTask(keyOf(input), input, attempt)
        : asTask(keyOf(input), input, attempt);
    },
    reserve() {
      if (places === 0) return undefined;
      places -= 1;
      return {
        begin: (input, runId, job = work) => leave(keyOf(input), begin(input, { number: 1, runId }, job)),
        giveUp: () => void (places += 1),
      };
    },
    async endAll(isMeant) {
      const left = Array.from(running).filter(([, { input }]) => isMeant(input));
      for (const [key, begun] of left) {
        forget(key, begun);
        begun.stop.abort(new CancelledFailure(STOPPED));
      }
      await Promise.allSettled(left.map(([, { result }]) => result));
    },
  };
}

/** `before`: attempts that were made before this activity's own. */
export function attemptNow<Input>(input: Input, before = 0): Attempt<Input> {
  const { info, cancellationSignal: signal } = Context.current();
  const runId = info.workflowExecution?.runId ?? '';
  return {
    number: info.attempt + before,
    signal,
    runId,
    awaitedBy: () => (info.isLocal ? input : undefined),
  };
}

/** For as long as it waits, what stops the activity stops the work. */
async function follow<Waited>(
  { stop }: { readonly stop: AbortController },
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
