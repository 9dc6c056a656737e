/**
 * Work that a local activity begins within a workflow task, since it is mostly over at once: that saves the server a task. What
 * is not over goes on as an activity on this worker's own task queue, which takes the running work over and begins nothing anew.
 */
import { ApplicationFailure, CancelledFailure, Context } from '@temporalio/activity';
import { type Attempt, attemptNow, STOPPED } from '../attempt.ts';
import { withTimeout } from '../with-timeout.ts';

/** The task queue that only this worker polls. */
export interface OwnQueue {
  readonly name: string;
  /** So much of each kind may be begun and not over: who follows it then finds a slot at once. */
  readonly max: number;
}

/** Both are absent where no workflow task can wait for it. */
export interface InlineAttempt extends Attempt {
  /** Whether a workflow task waits for it now: then what its result asks for comes next there, before anybody's word. */
  readonly isAwaited?: () => boolean;
  /** Has the workflow task go on without it, since it lasts. */
  readonly detach?: () => void;
}

type Work<Input, Result> = (input: Input, attempt: InlineAttempt) => Promise<Result>;

export interface InFlightOptions<Input, Result> {
  readonly keyOf: (input: Input) => string;
  readonly work: Work<Input, Result>;
  /** How long a workflow task waits for the work in it: messages and stops wait for its end. */
  readonly patienceMs: number;
  /** See OwnQueue. What would be more waits for a slot, as an activity like any other. */
  readonly max: number;
  readonly priorAttempts?: (input: Input) => number;
  /** Work that nobody follows is stopped after this. */
  readonly unfollowedMs?: number;
}

export interface InFlightWork<Input, Result> {
  /** The activity; undefined from a local one whose work goes on. */
  readonly run: (input: Input) => Promise<Result | undefined>;
  /** A place for work that begins before its activity, which then follows it; undefined when there is none. */
  readonly reserve: () => Slot<Input, Result> | undefined;
  /** Stops what nobody follows and was begun for such an input; resolves when it is over. */
  readonly endAll: (isMeant: (input: Input) => boolean) => Promise<void>;
}

/** To be used or given up. */
export interface Slot<Input, Result> {
  begin(input: Input, runId: string, work: Work<Input, Result>): void;
  giveUp(): void;
}

/** As long as the activity that follows is waited for (`followOptions`). */
const UNFOLLOWED_MS = 10_000;

interface InFlight<Input, Result> {
  readonly input: Input;
  readonly result: Promise<Result>;
  /** Resolves when the work says that it lasts. */
  readonly left: Promise<void>;
  readonly stop: AbortController;
  isAwaited: boolean;
  unfollowed?: NodeJS.Timeout;
}

export function createInFlightWork<Input, Result>({
  keyOf,
  work,
  patienceMs,
  max,
  priorAttempts = () => 0,
  unfollowedMs = UNFOLLOWED_MS,
}: InFlightOptions<Input, Result>): InFlightWork<Input, Result> {
  const running = new Map<string, InFlight<Input, Result>>();
  let places = max;

  /** Takes a place that the caller has made sure of. */
  function begin(
    input: Input,
    first: Pick<Attempt, 'number' | 'runId'>,
    job: Work<Input, Result>,
  ): InFlight<Input, Result> {
    const stop = new AbortController();
    const { promise: pending, resolve } = Promise.withResolvers<void>();
    const detach = (): void => resolve();
    const isAwaited = (): boolean => started.isAwaited;
    const started: InFlight<Input, Result> = {
      input,
      stop,
      left: pending,
      isAwaited: false,
      // Later than `begun` is there.
      result: Promise.resolve().then(() => job(input, { ...first, signal: stop.signal, isAwaited, detach })),
    };
    const onEnd = (): void => void (places += 1);
    // Who goes on with it hears of what goes wrong; else nobody waits for it.
    started.result.then(onEnd, onEnd);
    running.set(keyOf(input), started);
    return started;
  }

  function beginInTask(input: Input, attempt: Attempt): InFlight<Input, Result> {
    if (places === 0)
      throw ApplicationFailure.retryable('as much as may be is begun in this worker', 'Unavailable');
    places -= 1;
    return begin(input, attempt, work);
  }

  function forget(key: string, started: InFlight<Input, Result>): void {
    clearTimeout(started.unfollowed);
    if (running.get(key) === started) running.delete(key);
  }

  function leave(key: string, begin: InFlight<Input, Result>): void {
    begin.isAwaited = false;
    begin.unfollowed = setTimeout(() => {
      forget(key, begin);
      begin.stop.abort(new Error('nobody went on with this'));
    }, unfollowedMs).unref();
  }

  /**
   * The server asks twice when it has not heard of the end of a workflow task, and so does a worker that has put the workflow out of
   * its memory meanwhile. Such a local activity is cancelled, and its work is not: who asks again joins it. A stop that
   * comes now finds it in the activity that follows, or ends it with the turn.
   */
  async function inTask(key: string, input: Input, attempt: Attempt): Promise<Result | undefined> {
    const started = running.get(key) ?? beginInTask(input, attempt);
    clearTimeout(started.unfollowed);
    started.isAwaited = true;
    const pending = started.result.then((result) => ({ result }));
    const remaining = started.left.then(() => undefined);
    const ended = await withTimeout(patienceMs, Promise.race([pending, remaining])).catch(
      (error: unknown) => {
        forget(key, started);
        throw error;
      },
    );
    if (!ended) {
      leave(key, started);
      return undefined;
    }
    forget(key, started);
    return ended.result;
  }

  async function asTask(key: string, input: Input, attempt: Attempt): Promise<Result> {
    const begin = running.get(key);
    if (!begin) return work(input, attempt);
    forget(key, begin);
    return follow(begin, attempt.signal, () => begin.result);
  }

  return {
    async run(input) {
      const now = attemptNow();
      const attempt = { ...now, number: now.number + priorAttempts(input) };
      return Context.current().info.isLocal
        ? inTask(keyOf(input), input, attempt)
        : asTask(keyOf(input), input, attempt);
    },
    reserve() {
      if (places === 0) return undefined;
      places -= 1;
      return {
        begin: (input, runId, job) => leave(keyOf(input), begin(input, { number: 1, runId }, job)),
        giveUp: () => void (places += 1),
      };
    },
    async endAll(isMeant) {
      const remaining = Array.from(running).filter(([, { input }]) => isMeant(input));
      for (const [key, started] of remaining) {
        forget(key, started);
        started.stop.abort(new CancelledFailure(STOPPED));
      }
      await Promise.allSettled(remaining.map(([, { result }]) => result));
    },
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
