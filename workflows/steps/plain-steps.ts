/** How a step calls its model and runs its tools: one activity each, with the tool's name as its type. */
import {
  type ActivityOptions,
  ApplicationFailure,
  type LocalActivityOptions,
  proxyActivities,
} from '@temporalio/workflow';
import type {
  CallModelInput,
  CallModelResult,
  ChildStart,
  PlannedCall,
  RunToolInput,
  RunToolResult,
  TurnActivities,
} from '#domain/turn/turn-activities.ts';
import { followOptions, modelOptions, toolOptions } from '../activity-options.ts';
import { firstTry } from './first-try.ts';

export interface Steps {
  askModel(input: CallModelInput): Promise<CallModelResult>;
  /** `heldOn`: the queue of the worker that still has the call from before people were asked. */
  runTool(call: PlannedCall, input: RunToolInput, heldOn?: string): Promise<RunToolResult>;
  /** The input of the workflow that a tool starts. */
  childInput(child: ChildStart): ChildStart['input'];
}

export const plainSteps: Steps = {
  async askModel(input) {
    const { call_model } = proxyActivities<TurnActivities>(modelOptions(input.step));
    return call_model(input);
  },
  async runTool(call, input) {
    const options = toolOptions(call);
    const result = await toolIn(proxyActivities, options, call)(input);
    const { continues } = result;
    if (continues === undefined || result.approval) return result;
    const there = toolIn(proxyActivities, followOptions(continues, options), call);
    const followed = await firstTry(() => there(input));
    return followed ?? toolIn(proxyActivities, options, call)({ ...input, here: true });
  },
  childInput: ({ input }) => input,
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
