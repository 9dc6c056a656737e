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
import { localToolOptions, modelOptions, toolOptions } from '../activity-options.ts';

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
  runTool: (call, input) =>
    call.local
      ? toolIn(proxyLocalActivities, localToolOptions(call), call)(input)
      : toolIn(proxyActivities, toolOptions(call), call)(input),
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
