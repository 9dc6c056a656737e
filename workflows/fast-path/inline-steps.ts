/**
 * Steps that are over at once, begun within the workflow task: a model whose last answer came at once, a command that is mostly
 * over in milliseconds. What is not goes on as an activity on the worker's own task queue. The worker says what is worth it
 * (`pace`, `inline`); one whose fast path is off never does, and every step takes its plain way.
 */
import { proxyActivities, proxyLocalActivities, workflowInfo } from '@temporalio/workflow';
import type { CallModelInput, TurnActivities } from '#domain/turn.ts';
import {
  followOptions,
  inlineModelOptions,
  inlineToolOptions,
  modelOptions,
  toolOptions,
} from '../activity-options.ts';
import { type ModelAnswer, plainSteps, type Steps, toolIn } from '../steps/plain-steps.ts';
import { firstTry } from '../steps/first-try.ts';

/**
 * How long one workflow task goes on with steps within it, in milliseconds: it takes neither messages nor stops until it ends, so
 * then a step of its own ends it.
 */
const TASK_MS = 500;

/** The most attempts of a call that was first begun in a workflow task: begun, and followed. */
const TRIES = 2;

/** `isQuick`: the first call of the model is likely to be. */
export function createInlineSteps(isQuick = false): Steps {
  let isModelQuick = isQuick;
  let task = { length: workflowInfo().historyLength, began: Date.now() };

  function isTaskLong(): boolean {
    const { historyLength: length } = workflowInfo();
    if (length !== task.length) task = { length, began: Date.now() };
    return Date.now() - task.began >= TASK_MS;
  }

  return {
    async askModel(input) {
      const answer = await (isModelQuick && !isTaskLong() ? askInline(input) : plainSteps.askModel(input));
      isModelQuick = 'pace' in answer && answer.pace === 'quick';
      return answer;
    },
    async runTool(call, input) {
      if (!call.inline) return plainSteps.runTool(call, input);
      const started = call.queue
        ? undefined
        : await firstTry(() => toolIn(proxyLocalActivities, inlineToolOptions(call), call)(input));
      if (started?.asked) return started;
      const queue = call.queue ?? started?.continues;
      if (queue === undefined) return started ?? plainSteps.runTool(call, input);
      const options = followOptions(queue, toolOptions(call));
      const followed = await firstTry(() => toolIn(proxyActivities, options, call)(input));
      return followed ?? plainSteps.runTool(call, input);
    },
  };
}

async function askInline(input: CallModelInput): Promise<ModelAnswer> {
  const inTask = proxyLocalActivities<TurnActivities>(inlineModelOptions(input.step));
  const started = await firstTry(() => inTask.call_model(input));
  if (started && started.kind !== 'continues') return started;
  const queue = started?.queue;
  // The worker's fast path is off.
  if (started && queue === undefined) return plainSteps.askModel(input);
  const followed = queue === undefined ? undefined : await follow(queue, input);
  return followed ?? plainSteps.askModel({ ...input, tried: TRIES });
}

/** Undefined when it has to be tried as an activity like any other. */
async function follow(queue: string, input: CallModelInput): Promise<ModelAnswer | undefined> {
  const { call_model } = proxyActivities<TurnActivities>(followOptions(queue, modelOptions(input.step)));
  const followed = await firstTry(() => call_model({ ...input, tried: 1 }));
  return followed?.kind === 'continues' ? undefined : followed;
}
