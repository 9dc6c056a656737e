/** Runs what a model asked for at one step: approvals first, tools beside each other, children that tools start. */
import {
  type ActivityOptions,
  ApplicationFailure,
  CancellationScope,
  executeChild,
  isCancellation,
  ParentClosePolicy,
  proxyActivities,
  proxyLocalActivities,
  TemporalFailure,
  TimeoutFailure,
} from '@temporalio/workflow';
import { APPROVAL, type ApprovalInput, type SettleApprovalResult } from '#domain/approval.ts';
import { approvalWorkflowId } from '#domain/ids.ts';
import type {
  CallModelResult,
  ChildStart,
  PlannedCall,
  RunToolInput,
  RunToolResult,
  SettledCall,
} from '#domain/turn.ts';
import { followOptions, localToolOptions, soonToolOptions, toolOptions } from '../activity-options.ts';
import { inheritedLabels } from './child-labels.ts';
import { causeOf, firstTry } from './first-try.ts';
import { runChild } from './run-child.ts';

type ToolActivities = Record<string, (input: RunToolInput) => Promise<RunToolResult>>;

export interface CallSurroundings {
  readonly tenant: string;
  readonly sessionKey: string;
  readonly turnId: string;
  /** Told when a call begins or ends to wait or run, so that the web UI can show it. */
  readonly onChange: (call: PlannedCall, phase: 'waiting' | 'running' | 'over') => void;
  /** Told when the workflow task has ended to wait for the server, and another one goes on. */
  readonly onNewTask: () => void;
  /** Whether the model is asked next for nothing but what a call of now results in. */
  readonly asksNext: () => boolean;
  /** A stop at the step takes back what is asked in it. */
  readonly questions: CancellationScope;
  /** Told how a call ended that the stop of the turn has ended, where that is known. */
  readonly onStopped: (settled: SettledCall) => void;
}

/**
 * Resolves when every call has ended, with those whose end is in no row yet: children's results and lost workers.
 * Rejects only when the turn is cancelled (after each call has ended) or by a bug.
 */
export async function runCalls(
  { calls, quick }: Pick<Extract<CallModelResult, { kind: 'calls' }>, 'calls' | 'quick'>,
  around: CallSurroundings,
): Promise<SettledCall[]> {
  const pace = { quick, isAlone: calls.length === 1 };
  const ends: Promise<SettledCall | undefined>[] = [];
  for (const call of calls) {
    if (call.serial) await Promise.allSettled(ends);
    ends.push(runCall(call, around, pace));
  }
  const results = await Promise.allSettled(ends);
  const failed = results.find((result) => result.status === 'rejected');
  if (failed) throw failed.reason;
  return results.flatMap((result) => (result.status === 'fulfilled' && result.value ? [result.value] : []));
}

interface Pace {
  /** Of the model that asked. */
  readonly quick: true | 'waiting' | undefined;
  readonly isAlone: boolean;
}

async function runCall(
  call: PlannedCall,
  around: CallSurroundings,
  { quick, isAlone }: Pace,
): Promise<SettledCall | undefined> {
  let child: ChildStart | undefined;
  try {
    const asks = (): boolean => quick === 'waiting' && isAlone && around.asksNext();
    const result = await askAndRun(call, around, asks);
    if (!result) return undefined;
    ({ child } = result);
    if (!child) return undefined;
    const settled = await runChild(call, child, quick !== undefined);
    around.onNewTask();
    return settled;
  } catch (error) {
    // A child that somebody cancelled by itself is a result for the model; only a stop of the turn ends the turn.
    if (isCancellation(error) && CancellationScope.current().consideredCancelled) {
      // A pause has no effect, so that its end is no unknown outcome.
      if (child?.type === 'wait') around.onStopped(stoppedPause(call));
      throw error;
    }
    return lostCall(call, error);
  } finally {
    around.onChange(call, 'over');
  }
}

/** Undefined when it may not run. How often it is asked about is bounded by its activity. */
async function askAndRun(
  call: PlannedCall,
  around: CallSurroundings,
  asks: () => boolean,
): Promise<RunToolResult | undefined> {
  for (let asked = call; ; ) {
    if (asked.approval) {
      // Nobody is asked for a turn that ends with this step.
      if (around.questions.consideredCancelled) return undefined;
      around.onChange(asked, 'waiting');
      const outcome = await askForApproval(asked, asked.approval, around);
      around.onNewTask();
      // Denied, expired, answered: recorded as the call's result by the approval itself.
      if (outcome.kind === 'settled' && outcome.status !== 'approved') return undefined;
    }
    around.onChange(asked, 'running');
    const result = await runTool(asked, around, asks());
    if (!result.asked) return result;
    asked = { ...call, approval: result.asked };
  }
}

function stoppedPause({ id }: PlannedCall): SettledCall {
  return { id, ok: false, code: 'Cancelled', text: 'Cancelled: the turn was stopped during the pause.' };
}

/** Resolves with the decision or the end of the question; its row is written before. */
export function askForApproval(
  call: PlannedCall,
  asked: NonNullable<PlannedCall['approval']>,
  around: Pick<CallSurroundings, 'tenant' | 'sessionKey' | 'turnId' | 'questions'>,
): Promise<SettleApprovalResult> {
  const { id, ...terms } = asked;
  const input: ApprovalInput = {
    tenant: around.tenant,
    approval_id: id,
    ...terms,
    summary: call.summary,
    session_key: around.sessionKey,
    turn_id: around.turnId,
  };
  return around.questions.run(() =>
    executeChild<(input: ApprovalInput) => Promise<SettleApprovalResult>>(APPROVAL.type, {
      workflowId: approvalWorkflowId(id),
      args: [input],
      // A turn that is stopped or terminated takes its question back (AP-1).
      parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
      staticSummary: call.summary,
      typedSearchAttributes: inheritedLabels('pending'),
    }),
  );
}

async function runTool(
  call: PlannedCall,
  { tenant, onNewTask }: Pick<CallSurroundings, 'tenant' | 'onNewTask'>,
  asks: boolean,
): Promise<RunToolResult> {
  const input = { tenant, call: call.id };
  // Nothing comes between a local activity and what the workflow then does.
  const inTask = asks ? { ...input, asks: true as const } : input;
  if (call.local) return activityOf(call, proxyLocalActivities(localToolOptions(call)))(inTask);
  const asTask = (options: ActivityOptions): Promise<RunToolResult> =>
    activityOf(call, proxyActivities(options))(input).finally(onNewTask);
  const options = toolOptions(call);
  if (!call.soon) return asTask(options);
  const begun = await firstTry(() => activityOf(call, proxyLocalActivities(soonToolOptions(call)))(inTask));
  const queue = begun?.continues;
  const result = queue === undefined ? begun : await firstTry(() => asTask(followOptions(queue, options)));
  return result ?? asTask(options);
}

function activityOf(call: PlannedCall, tools: ToolActivities): ToolActivities[string] {
  const run = tools[call.tool];
  if (!run) throw ApplicationFailure.nonRetryable(`no activity type for tool ${call.tool}`, 'Internal');
  return run;
}

/** An activity that gave up before it could record: the next step writes down what is known. */
function lostCall(call: PlannedCall, error: unknown): SettledCall {
  if (!(error instanceof TemporalFailure)) throw error;
  const cause = causeOf(error);
  if (isCancellation(error)) {
    const text = `Cancelled: ${call.tool} was cancelled in Temporal before it ended.`;
    return { id: call.id, ok: false, code: 'Cancelled', text };
  }
  const timedOut = cause instanceof TimeoutFailure;
  return {
    id: call.id,
    ok: false,
    code: timedOut ? 'OutcomeUnknown' : 'ExecutionFailed',
    text: timedOut
      ? `OutcomeUnknown: ${call.tool} did not answer in time; whether it took effect is not known.`
      : `ExecutionFailed: ${cause instanceof Error ? cause.message.slice(0, 500) : 'the tool could not be run'}`,
  };
}
