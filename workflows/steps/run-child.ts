/** A workflow that a tool starts through the loop: left to itself or waited for, its session's first run before it. */
import {
  CancellationScope,
  ChildWorkflowCancellationType,
  executeChild,
  ParentClosePolicy,
  startChild,
} from '@temporalio/workflow';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { SUBAGENT, type SessionEnded } from '#domain/subagent.ts';
import {
  AGENT_TURN,
  type AgentTurnInput,
  type ChildStart,
  type PlannedCall,
  type SessionStart,
  type SettledCall,
} from '#domain/turn.ts';
import { childLabels, inheritedLabels } from './child-labels.ts';
import { signalIfRunning } from './signal-if-running.ts';

/** A child whose words are many has written them down itself. */
type ChildResult = Omit<SettledCall, 'id'> | { readonly ok: boolean; readonly recorded: true };

/** Stopping the turn is not stopping what it has started: who means that says so (endSubagents). */
const LEFT_TO_ITSELF = {
  parentClosePolicy: ParentClosePolicy.ABANDON,
  cancellationType: ChildWorkflowCancellationType.ABANDON,
} as const;

/** `isQuick`: the model of the turn has just answered at once. */
export async function runChild(
  call: PlannedCall,
  child: ChildStart,
  isQuick: boolean,
): Promise<SettledCall | undefined> {
  const { session } = child;
  if (session) {
    await CancellationScope.nonCancellable(() => startWithSession(call, child, session, isQuick));
    return undefined;
  }
  if (!child.wait) {
    await startAlone(call, child);
    return undefined;
  }
  const result = await executeChild<(input: unknown) => Promise<ChildResult>>(child.type, {
    ...optionsOf(call, child),
    parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
  });
  return 'recorded' in result ? undefined : { id: call.id, ...result };
}

/**
 * The session first, since somebody waits for its model's first word: starts that are asked for together get in each other's
 * way, in the server and in the worker.
 */
async function startWithSession(
  call: PlannedCall,
  child: ChildStart,
  session: SessionStart,
  isQuick: boolean,
): Promise<void> {
  const isStarted = await startSession(session, isQuick);
  await startAlone(call, child);
  if (isStarted) return;
  const end: SessionEnded = { status: 'failed', reason: 'somebody else spoke in its session first' };
  await signalIfRunning(child.id, SUBAGENT.signals.sessionEnded, end);
}

function startAlone(call: PlannedCall, child: ChildStart): Promise<boolean> {
  // Somebody may have spoken to it since its row is there, and so have started it.
  return isStartedByUs(
    startChild<(input: unknown) => Promise<unknown>>(child.type, {
      ...optionsOf(call, child),
      ...LEFT_TO_ITSELF,
    }),
  );
}

function optionsOf(call: PlannedCall, { id, input, labels }: ChildStart) {
  return {
    workflowId: id,
    args: [input] as [unknown],
    staticSummary: call.summary,
    typedSearchAttributes: labels ? childLabels(labels) : inheritedLabels('running'),
  };
}

function startSession(
  { id, input, summary, labels, sameModel }: SessionStart,
  isQuick: boolean,
): Promise<boolean> {
  return isStartedByUs(
    startChild<(input: AgentTurnInput) => Promise<unknown>>(AGENT_TURN.type, {
      workflowId: id,
      args: [isQuick && sameModel ? { ...input, quick: true } : input],
      staticSummary: summary,
      typedSearchAttributes: childLabels(labels),
      ...LEFT_TO_ITSELF,
    }),
  );
}

async function isStartedByUs(start: Promise<unknown>): Promise<boolean> {
  try {
    await start;
    return true;
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    return false;
  }
}
