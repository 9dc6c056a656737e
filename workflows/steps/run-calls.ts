/** Runs the calls that a model requested in one step: approvals first, tools in parallel, children that tools start. */
import {
  CancellationScope,
  isCancellation,
  ParentClosePolicy,
  sleep,
  TemporalFailure,
  TimeoutFailure,
} from '@temporalio/workflow';
import { APPROVAL, type ApprovalInput, type SettleApprovalResult } from '#domain/approval/approval.ts';
import { approvalWorkflowId } from '#domain/ids.ts';
import type { SettledCall } from '#domain/turn/turn.ts';
import type { ChildStart, PlannedCall, RunToolResult } from '#domain/turn/turn-activities.ts';
import { inheritedLabels } from './child-labels.ts';
import { causeOf } from './failure-cause.ts';
import type { Steps } from './plain-steps.ts';
import { runChild } from './run-child.ts';
import { startCancellable } from './start-cancellable.ts';

export interface CallSurroundings {
  readonly tenant: string;
  readonly sessionKey: string;
  readonly turnId: string;
  /** Called when a call starts or ends to wait or run, so that the web UI can show it. */
  readonly onChange: (call: PlannedCall, phase: 'waiting' | 'running' | 'over') => void;
  readonly steps: Steps;
  /** A stop of the step withdraws the questions in this scope. */
  readonly questions: CancellationScope;
  /** Called with the end of a call that the turn's stop has ended, if that is known. */
  readonly onStopped: (settled: SettledCall) => void;
  /** Called with each end that no row has yet, as soon as it is known. */
  readonly onSettled: (settled: SettledCall) => void;
}

/**
 * Resolves when every call has ended, with the ends that no row has yet: children's results and lost workers. Rejects
 * only when the turn is cancelled (after each call has ended) or by a bug.
 */
export async function runCalls(
  calls: readonly PlannedCall[],
  around: CallSurroundings,
): Promise<SettledCall[]> {
  const ends: Promise<SettledCall | undefined>[] = [];
  let before: Promise<unknown> | undefined;
  for (const call of calls) {
    if (call.serial) before = Promise.allSettled(ends);
    ends.push(runCall(call, around, before));
  }
  const results = await Promise.allSettled(ends);
  const failed = results.find((result) => result.status === 'rejected');
  if (failed) throw failed.reason;
  return results.flatMap((result) => (result.status === 'fulfilled' && result.value ? [result.value] : []));
}

/** It begins once `before` has resolved, but asks for its approval at once: whoever sees a question can decide it. */
async function runCall(
  call: PlannedCall,
  around: CallSurroundings,
  before: Promise<unknown> | undefined,
): Promise<SettledCall | undefined> {
  const settled = await endOfCall(call, around, before);
  if (settled) around.onSettled(settled);
  return settled;
}

async function endOfCall(
  call: PlannedCall,
  around: CallSurroundings,
  before: Promise<unknown> | undefined,
): Promise<SettledCall | undefined> {
  let child: ChildStart | undefined;
  try {
    const result = await askAndRun(call, around, before);
    if (!result) return undefined;
    ({ child } = result);
    if (result.unrecorded !== undefined) return unrecordedEnd(call, result, result.unrecorded, around);
    if (!child) return undefined;
    return await runChild(call, child, around.steps.childInput(child));
  } catch (error) {
    // A child that was cancelled alone is a result for the model; only a stop of the turn ends the turn.
    if (isCancellation(error) && CancellationScope.current().consideredCancelled) {
      // A pause has no effect, so its end is no unknown outcome.
      if (child?.type === 'wait') around.onStopped(stoppedPause(call));
      throw error;
    }
    return lostCall(call, error);
  } finally {
    around.onChange(call, 'over');
  }
}

/** Undefined when it may not run. Its activity limits how often people are asked. */
async function askAndRun(
  call: PlannedCall,
  around: CallSurroundings,
  before: Promise<unknown> | undefined,
): Promise<RunToolResult | undefined> {
  let heldOn: string | undefined;
  const run = (request: PlannedCall, stopped?: true): Promise<RunToolResult> =>
    around.steps.runTool(
      request,
      { tenant: around.tenant, call: call.id, ...(stopped && { stopped }) },
      heldOn,
    );
  for (let requested = call; ; ) {
    if (requested.approval) {
      // A turn that ends with this step asks nobody.
      if (around.questions.consideredCancelled) return undefined;
      around.onChange(requested, 'waiting');
      const outcome = await askForApproval(requested, requested.approval, around);
      const isApproved = outcome.kind !== 'settled' || outcome.status === 'approved';
      // Denied, expired, answered: the approval itself has recorded it as the call's result.
      if (!isApproved && requested.approval.form === undefined) return undefined;
      // Its MCP server learns that nobody answers.
      if (!isApproved && outcome.status === 'withdrawn')
        return CancellationScope.nonCancellable(() => run(requested));
      around.onChange(requested, 'over');
    }
    await before;
    around.onChange(requested, 'running');
    let result = await run(requested);
    while (result.later !== undefined) result = await lookAgain(result.later, requested, run);
    if (!result.approval) return result;
    requested = { ...call, approval: result.approval };
    heldOn = result.continues;
  }
}

/** Checks the outside work of a call after a pause. When the turn is stopped meanwhile, the work is cancelled there. */
async function lookAgain(
  seconds: number,
  call: PlannedCall,
  run: (request: PlannedCall, stopped?: true) => Promise<RunToolResult>,
): Promise<RunToolResult> {
  try {
    await sleep(seconds * 1000);
    return await run(call);
  } catch (error) {
    if (isCancellation(error)) await CancellationScope.nonCancellable(() => run(call, true));
    throw error;
  }
}

/** Its activity could not record how it ended. When the turn is stopped meanwhile, the turn's end does. */
function unrecordedEnd(
  { id }: PlannedCall,
  { ok, code }: RunToolResult,
  text: string,
  { onStopped }: CallSurroundings,
): SettledCall {
  const settled = { id, ok, code, text };
  if (CancellationScope.current().consideredCancelled) onStopped(settled);
  return settled;
}

function stoppedPause({ id }: PlannedCall): SettledCall {
  return { id, ok: false, code: 'Cancelled', text: 'Cancelled: the turn was stopped during the pause.' };
}

/** Resolves with the decision or the end of the question, whose row exists already. */
export function askForApproval(
  call: PlannedCall,
  request: NonNullable<PlannedCall['approval']>,
  around: Pick<CallSurroundings, 'tenant' | 'sessionKey' | 'turnId' | 'questions'>,
): Promise<SettleApprovalResult> {
  const { id, ...terms } = request;
  const input: ApprovalInput = {
    tenant: around.tenant,
    approval_id: id,
    ...terms,
    summary: call.summary,
    session_key: around.sessionKey,
    turn_id: around.turnId,
  };
  return around.questions.run(async () => {
    const child = await startCancellable<(input: ApprovalInput) => Promise<SettleApprovalResult>>(
      APPROVAL.type,
      {
        workflowId: approvalWorkflowId(id),
        args: [input],
        // A turn that is stopped or terminated withdraws its question (AP-1).
        parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
        staticSummary: call.summary,
        typedSearchAttributes: inheritedLabels('pending'),
      },
    );
    return child.result();
  });
}

/** An activity that gave up before it could record: the next step records what is known. */
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
