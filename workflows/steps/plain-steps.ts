/** How a step asks its model and runs its tools: one activity each, the tool's name its type. */
import {
  type ActivityOptions,
  ApplicationFailure,
  type LocalActivityOptions,
  proxyActivities,
  proxyLocalActivities,
} from '@temporalio/workflow';
import type {
  CallModelInput,
  CallModelResult,
  PlannedCall,
  RunToolInput,
  RunToolResult,
  TurnActivities,
} from '#domain/turn.ts';
import { followOptions, localToolOptions, modelOptions, toolOptions } from '../activity-options.ts';
import { firstTry } from './first-try.ts';

export type ModelAnswer = Exclude<CallModelResult, { kind: 'continues' }>;

export interface Steps {
  askModel(input: CallModelInput): Promise<ModelAnswer>;
  runTool(call: PlannedCall, input: RunToolInput): Promise<RunToolResult>;
}

export const plainSteps: Steps = {
  async askModel(input) {
    const { call_model } = proxyActivities<TurnActivities>(modelOptions(input.step));
    const answer = await call_model(input);
    if (answer.kind === 'continues')
      throw new Error('only what is begun in a workflow task goes on elsewhere');
    return answer;
  },
  // A short one's row is its durable result, so it needs no task of its own.
  async runTool(call, input) {
    if (call.local) return toolIn(proxyLocalActivities, localToolOptions(call), call)(input);
    const options = toolOptions(call);
    const result = await toolIn(proxyActivities, options, call)(input);
    const { continues } = result;
    if (continues === undefined || result.asked) return result;
    const there = toolIn(proxyActivities, followOptions(continues, options), call);
    const followed = await firstTry(() => there(input));
    return followed ?? toolIn(proxyActivities, options, call)({ ...input, here: true });
  },
};

type ToolActivities = Record<string, (input: RunToolInput) => Promise<RunToolResult>>;

export function toolIn<Options extends ActivityOptions | LocalActivityOptions>(
  proxy: (options: Options) => ToolActivities,
  options: Options,
  { tool }: PlannedCall,
): ToolActivities[string] {
  const run = proxy(options)[tool];
  if (!run) throw ApplicationFailure.nonRetryable(`no activity type for tool ${tool}`, 'Internal');
  return run;
}
