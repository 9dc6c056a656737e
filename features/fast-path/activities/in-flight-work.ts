/**
 * Work that a local activity starts within a workflow task, because it usually ends immediately; that saves the server
 * a task. Work that has not ended continues as an activity on this worker's own task queue, which takes over the
 * running work and starts nothing again.
 */
import { ApplicationFailure, CancelledFailure, Context } from '@temporalio/activity';
import { type Attempt, attemptNow, STOPPED } from '#activities/attempt.ts';
import { withTimeout } from '#domain/async/with-timeout.ts';

/** The task queue that only this worker polls. */
export interface OwnQueue {
  readonly name: string;
  /** Greatest number of running items of each kind, so that the activity that follows one finds a slot at once. */
  readonly max: number;
}

/** Both are absent when no workflow task can wait for it. */
export interface InlineAttempt extends Attempt {
  /**
   * Whether a workflow task waits for it now: then the calls that it requests come next there, before any other
   * message.
   */
  readonly isAwaited?: () => boolean;
  /** Lets the workflow task continue without it, because it takes longer. */
  readonly detach?: () => void;
}

type Work<Input, Result> = (input: Input, attempt: InlineAttempt) => Promise<Result>;

export interface InFlightOptions<Input, Result> {
  readonly keyOf: (input: Input) => string;
  readonly work: Work<Input, Result>;
  /** How long a workflow task waits for the work in it: messages and stops wait until then. */
  readonly patienceMs: number;
  /** See OwnQueue. Work beyond it waits for a slot, as an ordinary activity. */
  readonly max: number;
  readonly priorAttempts?: (input: Input) => number;
  /** Work that no activity follows is stopped after this. */
  readonly unfollowedMs?: number;
}

export interface InFlightWork<Input, Result> {
  /** The activity; undefined from a local one whose work continues. */
  readonly run: (input: Input) => Promise<Result | undefined>;
  /** A slot for work that starts before its activity, which then follows it; undefined when there is none. */
  readonly reserve: () => Slot<Input, Result> | undefined;
  /** Stops work without a follower that was started for such an input; resolves when it is over. */
  readonly endAll: (isMeant: (input: Input) => boolean) => Promise<void>;
  /** Resolves when all that runs now is over, or followed by an activity. */
  readonly untilFollowed: () => Promise<void>;
}

/** It must be used or released. */
export interface Slot<Input, Result> {
  start(input: Input, runId: string, work: Work<Input, Result>): void;
  release(): void;
}

/** As long as the following activity is awaited (`followOptions`). */
const UNFOLLOWED_MS = 10_000;

interface InFlight<Input, Result> {
  readonly input: Input;
  readonly result: Promise<Result>;
  /** Resolves when the work reports that it takes longer. */
  readonly lasts: Promise<void>;
  readonly stop: AbortController;
  /** Resolves when somebody waits for its result, or nobody will. */
  readonly followed: PromiseWithResolvers<void>;
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
  let slots = max;

  /** Runs in a slot that the caller has taken. */
  function start(
    input: Input,
    first: Pick<Attempt, 'number' | 'runId'>,
    job: Work<Input, Result>,
  ): InFlight<Input, Result> {
    const stop = new AbortController();
    const { promise: lasts, resolve } = Promise.withResolvers<void>();
    const detach = (): void => resolve();
    const isAwaited = (): boolean => started.isAwaited;
    const started: InFlight<Input, Result> = {
      input,
      stop,
      lasts,
      followed: Promise.withResolvers<void>(),
      isAwaited: false,
      // It runs after `started` is set.
      result: Promise.resolve().then(() => job(input, { ...first, signal: stop.signal, isAwaited, detach })),
    };
    const onEnd = (): void => void (slots += 1);
    // The follower receives errors; without one, nobody waits for them.
    started.result.then(onEnd, onEnd);
    running.set(keyOf(input), started);
    return started;
  }

  function startInTask(input: Input, attempt: Attempt): InFlight<Input, Result> {
    if (slots === 0)
      throw ApplicationFailure.retryable('as much as may be is begun in this worker', 'Unavailable');
    slots -= 1;
    return start(input, attempt, work);
  }

  function forget(key: string, started: InFlight<Input, Result>): void {
    clearTimeout(started.unfollowed);
    if (running.get(key) === started) running.delete(key);
    started.followed.resolve();
  }

  function detached(key: string, started: InFlight<Input, Result>): void {
    started.isAwaited = false;
    started.unfollowed = setTimeout(() => {
      forget(key, started);
      started.stop.abort(new Error('nobody went on with this'));
    }, unfollowedMs).unref();
  }

  /**
   * The server retries when it has not received the end of a workflow task, and so does a worker that has evicted the
   * workflow meanwhile. Then the local activity is cancelled but not its work, which the retry joins. A stop that
   * arrives now takes effect in the following activity, or ends the work with the turn.
   */
  async function inTask(key: string, input: Input, attempt: Attempt): Promise<Result | undefined> {
    const started = running.get(key) ?? startInTask(input, attempt);
    clearTimeout(started.unfollowed);
    started.isAwaited = true;
    const pending = started.result.then((result) => ({ result }));
    const detaches = started.lasts.then(() => undefined);
    const ended = await withTimeout(patienceMs, Promise.race([pending, detaches])).catch((error: unknown) => {
      forget(key, started);
      throw error;
    });
    if (!ended) {
      detached(key, started);
      return undefined;
    }
    forget(key, started);
    return ended.result;
  }

  async function asTask(key: string, input: Input, attempt: Attempt): Promise<Result> {
    const started = running.get(key);
    if (!started) return work(input, attempt);
    forget(key, started);
    return follow(started, attempt.signal);
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
      if (slots === 0) return undefined;
      slots -= 1;
      return {
        start: (input, runId, job) => detached(keyOf(input), start(input, { number: 1, runId }, job)),
        release: () => void (slots += 1),
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
    untilFollowed: () => allFollowed(running.values()),
  };
}

async function allFollowed(all: Iterable<InFlight<unknown, unknown>>): Promise<void> {
  await Promise.allSettled(
    Array.from(all, ({ result, followed }) => Promise.race([result, followed.promise])),
  );
}

/** While it waits, a stop of the activity stops the work. */
async function follow<Result>(
  { stop, result }: Pick<InFlight<unknown, Result>, 'stop' | 'result'>,
  signal: AbortSignal,
): Promise<Result> {
  const pass = (): void => stop.abort(signal.reason);
  if (signal.aborted) pass();
  signal.addEventListener('abort', pass);
  try {
    return await result;
  } finally {
    signal.removeEventListener('abort', pass);
  }
}
