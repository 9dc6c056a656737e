/**
 * One model call: an activity of its own, or within the workflow task while the model answers at once. A workflow task takes
 * neither messages nor stops until it ends, so it ends by a call of its own twice a second.
 */
import { proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { CallModelInput, CallModelResult, TurnActivities } from '#domain/turn.ts';
import { modelOptions, quickModelOptions } from '../activity-options.ts';
import { onceInTask } from './once-in-task.ts';

/** How long one workflow task goes on with quick calls, in milliseconds. */
const QUICK_CHAIN_MS = 500;

type ModelCall = Exclude<CallModelResult, { kind: 'continues' }>;

export interface ModelCaller {
  call(input: CallModelInput): Promise<ModelCall>;
  /** Another workflow task goes on: its quick calls have their time anew. */
  restart(): void;
}

export function createModelCaller(): ModelCaller {
  let isQuick = false;
  let chainedSince = 0;

  /** Undefined when it takes longer after all. */
  async function quickly(input: CallModelInput): Promise<ModelCall | undefined> {
    const { call_model } = proxyLocalActivities<TurnActivities>(quickModelOptions(input.step));
    const answer = await onceInTask(() => call_model(input));
    return answer?.kind === 'continues' ? undefined : answer;
  }

  async function asTask(input: CallModelInput): Promise<ModelCall> {
    const { call_model } = proxyActivities<TurnActivities>(modelOptions(input.step));
    const answer = await call_model(input);
    if (answer.kind === 'continues') throw new Error('only a quick call goes on elsewhere');
    return answer;
  }

  return {
    async call(input) {
      const tries = isQuick && Date.now() - chainedSince < QUICK_CHAIN_MS;
      let answer = tries ? await quickly(input) : undefined;
      if (!answer) {
        answer = await asTask(tries ? { ...input, tried: 1 } : input);
        chainedSince = Date.now();
      }
      isQuick = answer.kind === 'calls' && answer.quick === true;
      return answer;
    },
    restart() {
      chainedSince = Date.now();
    },
  };
}
