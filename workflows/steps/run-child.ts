/** A workflow that a tool starts through the loop: abandoned or waited for. */
import { ChildWorkflowCancellationType, ParentClosePolicy, startChild } from '@temporalio/workflow';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import type { SettledCall } from '#domain/turn/turn.ts';
import type { ChildStart, PlannedCall } from '#domain/turn/turn-activities.ts';
import { childLabels, inheritedLabels } from './child-labels.ts';
import { startCancellable } from './start-cancellable.ts';

/** A child with a long result has recorded it itself. */
type ChildResult = Omit<SettledCall, 'id'> | { readonly ok: boolean; readonly recorded: true };

type Child = (input: unknown) => Promise<ChildResult>;

/** Stopping the turn does not stop what it has started; endAssignments does that. */
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
    const child = await startCancellable<Child>(type, {
      ...options,
      parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
    });
    const result = await child.result();
    return 'recorded' in result ? undefined : { id: call.id, ...result };
  }
  try {
    await startChild<Child>(type, { ...options, ...LEFT_TO_ITSELF });
  } catch (error) {
    // The sweep for lost work may have started it.
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
  return undefined;
}
