/**
 * Steps that end immediately, started within the workflow task: a model whose last answer was fast, or a command that
 * usually takes milliseconds. Slower ones continue as an activity on the worker's own task queue. The worker decides
 * which steps are worth it (contract.ts); without its fast path, every step runs as an ordinary activity.
 */
import {
  type LocalActivityOptions,
  proxyActivities,
  proxyLocalActivities,
  workflowInfo,
} from '@temporalio/workflow';
import type {
  InlineCall,
  InlineHints,
  InlineModelInput,
  InlineNext,
  InlineTurnActivities,
} from './contract.ts';
import type { CallModelInput, CallModelResult, PlannedCall } from '#domain/turn/turn-activities.ts';
import { followOptions, modelOptions, RETRY, toolOptions } from '#workflows/activity-options.ts';
import { plainSteps, type Steps, toolIn } from '#workflows/steps/plain-steps.ts';
import { firstTry } from '#workflows/steps/first-try.ts';

/** One attempt within the workflow task. A failed or slow one is repeated as an activity. */
const BEGINNING: LocalActivityOptions = {
  // The activity itself stops waiting long before.
  startToCloseTimeout: '1 minute',
  retry: { maximumAttempts: 1 },
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
};

/** For a short tool: its row is its durable result, so it needs no task of its own. */
function localToolOptions(call: PlannedCall): LocalActivityOptions {
  return { startToCloseTimeout: (call.timeout + 5) * 1000, retry: RETRY, summary: call.summary };
}

/** Greatest number of attempts of a call that started in a workflow task: the start, and the follow-up. */
const TRIES = 2;

export function createInlineSteps({ inline_model }: InlineHints = {}): Steps {
  let isModelInline = inline_model === true;
  return {
    async askModel(input) {
      const answer: CallModelResult & InlineNext = await (isModelInline
        ? askInline(input)
        : plainSteps.askModel(input));
      isModelInline = answer.inlineNext === true;
      return answer;
    },
    async runTool(call: InlineCall, input, heldOn) {
      if (call.local) {
        const result = await toolIn(proxyLocalActivities, localToolOptions(call), call)(input);
        return result.held ? plainSteps.runTool(call, input) : result;
      }
      if (!call.inline) return plainSteps.runTool(call, input);
      const started = heldOn
        ? undefined
        : await firstTry(() =>
            toolIn(proxyLocalActivities, { ...BEGINNING, summary: call.summary }, call)(input),
          );
      if (started?.approval) return started;
      const queue = heldOn ?? started?.continues;
      if (queue === undefined) return started ?? plainSteps.runTool(call, input);
      const options = followOptions(queue, toolOptions(call));
      const followed = await firstTry(() => toolIn(proxyActivities, options, call)(input));
      return followed ?? plainSteps.runTool(call, input);
    },
    // The model has just answered fast, and answers in the child too.
    childInput({ input, sameModel }) {
      const engine: InlineHints = { inline_model: true };
      return isModelInline && sameModel ? { ...input, engine } : input;
    },
  };
}

async function askInline(input: CallModelInput): Promise<CallModelResult> {
  const inTask = proxyLocalActivities<InlineTurnActivities>({
    ...BEGINNING,
    summary: `step ${input.step}`,
  });
  const task = workflowInfo().historyLength;
  const started = await firstTry(() => inTask.call_model({ ...input, task }));
  if (started && started.kind !== 'continues') return started;
  const queue = started?.queue;
  // The worker's fast path is off.
  if (started && queue === undefined) return plainSteps.askModel(input);
  const followed = queue === undefined ? undefined : await follow(queue, input);
  const last: InlineModelInput = { ...input, priorAttempts: TRIES };
  return followed ?? plainSteps.askModel(last);
}

/** Undefined when it has to run as an ordinary activity. */
async function follow(queue: string, input: CallModelInput): Promise<CallModelResult | undefined> {
  const { call_model } = proxyActivities<InlineTurnActivities>(
    followOptions(queue, modelOptions(input.step)),
  );
  const followed = await firstTry(() => call_model({ ...input, priorAttempts: 1 }));
  return followed?.kind === 'continues' ? undefined : followed;
}
