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

/** The most attempts of a call that was first tried in a workflow task: begun, joined, followed. */
const TRIES = 3;

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

  async function inNewTask(input: CallModelInput, options: ActivityOptions): Promise<CallModelResult> {
    const { call_model } = proxyActivities<TurnActivities>(options);
    try {
      return await call_model(input);
    } finally {
      chainedSince = Date.now();
    }
  }

  async function asTask(input: CallModelInput, options: ActivityOptions): Promise<ModelCall> {
    const answer = await inNewTask(input, options);
    if (answer.kind === 'continues')
      throw new Error('only what is begun in a workflow task goes on elsewhere');
    return answer;
  }

  /** Undefined when it has to be tried as an activity like any other. */
  async function quickly(
    input: CallModelInput,
    isDue: boolean,
    options: ActivityOptions,
  ): Promise<ModelCall | undefined> {
    const { call_model } = proxyLocalActivities<TurnActivities>(quickModelOptions(input.step));
    const unawaited = { ...input, unawaited: true } as const;
    const begun = await firstTry(() => call_model(isDue ? unawaited : input));
    if (begun?.kind !== 'continues') return begun;
    const followed = followOptions(begun.queue, options);
    const follow = (tried: number) => firstTry(() => asTask({ ...input, tried }, followed));
    if (!begun.pause) return follow(1);
    // It is waited for in the next workflow task, which this brings while the model still thinks.
    if (!(await firstTry(() => inNewTask({ ...unawaited, tried: 1 }, followed)))) return undefined;
    const joined = await firstTry(() => call_model({ ...input, tried: 1 }));
    return joined?.kind === 'continues' ? follow(2) : joined;
  }

  return {
    async call(input) {
      const options = modelOptions(input.step);
      const isDue = Date.now() - chainedSince >= QUICK_CHAIN_MS;
      // A model that lets wait is asked while the task ends.
      const isTried = isDue ? pace === 'waiting' : pace !== undefined;
      const quick = isTried ? await quickly(input, isDue, options) : undefined;
      const answer = quick ?? (await asTask(isTried ? { ...input, tried: TRIES } : input, options));
      pace = answer.kind === 'calls' ? answer.quick : undefined;
      return answer;
    },
    restart() {
      chainedSince = Date.now();
    },
  };
}
