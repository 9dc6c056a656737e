/** A workflow that a tool starts through the loop: left to itself or waited for. */
import {
  ChildWorkflowCancellationType,
  executeChild,
  ParentClosePolicy,
  startChild,
} from '@temporalio/workflow';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import type { ChildStart, PlannedCall, SettledCall } from '#domain/turn.ts';
import { childLabels, inheritedLabels } from './child-labels.ts';

/** A child whose words are many has written them down itself. */
type ChildResult = Omit<SettledCall, 'id'> | { readonly ok: boolean; readonly recorded: true };

type Child = (input: unknown) => Promise<ChildResult>;

/** Stopping the turn is not stopping what it has started: who means that says so (endAssignments). */
const LEFT_TO_ITSELF = {
  parentClosePolicy: ParentClosePolicy.ABANDON,
  cancellationType: ChildWorkflowCancellationType.ABANDON,
} as const;

export async function runChild(
  call: PlannedCall,
  { type, id, labels, wait }: ChildStart,
  input: ChildStart['input'],
): Promise<SettledCall | undefined> {
  const options = {
    workflowId: id,
    args: [input] as [unknown],
    staticSummary: call.summary,
    typedSearchAttributes: labels ? childLabels(labels) : inheritedLabels('running'),
  };
  if (wait) {
    const result = await executeChild<Child>(type, {
      ...options,
      parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
    });
    return 'recorded' in result ? undefined : { id: call.id, ...result };
  }
  try {
    await startChild<Child>(type, { ...options, ...LEFT_TO_ITSELF });
  } catch (error) {
    // What looks for lost work may have started it.
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
  return undefined;
}
