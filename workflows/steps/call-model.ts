/**
 * One model call: an activity of its own, or within the workflow task while the model answers at once. A workflow task takes
 * neither messages nor stops until it ends, so it ends by a call of its own twice a second.
 */
import { type ActivityOptions, proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { CallModelInput, CallModelResult, TurnActivities } from '#domain/turn.ts';
import { followOptions, modelOptions, quickModelOptions } from '../activity-options.ts';
import { firstTry } from './first-try.ts';

/** How long one workflow task goes on with quick calls, in milliseconds. */
const QUICK_CHAIN_MS = 500;

type Pace = Extract<CallModelResult, { kind: 'calls' }>['quick'];

type ModelCall = Exclude<CallModelResult, { kind: 'continues' }>;

export interface ModelCaller {
  call(input: CallModelInput): Promise<ModelCall>;
  /** Another workflow task goes on: its quick calls have their time anew. */
  restart(): void;
}

/** `isQuick`: the first call is likely to be. */
export function createModelCaller(isQuick = false): ModelCaller {
  let pace: Pace = isQuick ? true : undefined;
  let chainedSince = isQuick ? Date.now() : 0;

  async function asTask(input: CallModelInput, options: ActivityOptions): Promise<ModelCall> {
    const { call_model } = proxyActivities<TurnActivities>(options);
    try {
      const answer = await call_model(input);
      if (answer.kind === 'continues')
        throw new Error('only what is begun in a workflow task goes on elsewhere');
      return answer;
    } finally {
      chainedSince = Date.now();
    }
  }

  /** Undefined when it has to be tried as an activity like any other. */
  async function quickly(input: CallModelInput, options: ActivityOptions): Promise<ModelCall | undefined> {
    const { call_model } = proxyLocalActivities<TurnActivities>(quickModelOptions(input.step));
    const answer = await firstTry(() => call_model(input));
    if (answer?.kind !== 'continues') return answer;
    return firstTry(() => asTask({ ...input, tried: 1 }, followOptions(answer.queue, options)));
  }

  return {
    async call(input) {
      const options = modelOptions(input.step);
      const isDue = Date.now() - chainedSince >= QUICK_CHAIN_MS;
      // A model that lets wait is asked while the task ends.
      const isTried = isDue ? pace === 'waiting' : pace !== undefined;
      const quick = isTried
        ? await quickly(isDue ? { ...input, unawaited: true } : input, options)
        : undefined;
      const answer = quick ?? (await asTask(isTried ? { ...input, tried: 2 } : input, options));
      pace = answer.kind === 'calls' ? answer.quick : undefined;
      return answer;
    },
    restart() {
      chainedSince = Date.now();
    },
  };
}
