/**
 * Implements many agents by hand. A loop starts another as its child; a task is claimed by an update, and its child
 * works on it; a lead has its tasks as children. Local activities write the rows, as somebody who wants speed would do
 * it.
 */
import {
  allHandlersFinished,
  ApplicationFailure,
  condition,
  defineQuery,
  defineUpdate,
  executeChild,
  ParentClosePolicy,
  proxyLocalActivities,
  setHandler,
  startChild,
} from '@temporalio/workflow';
import {
  type AgentsActivities,
  BARE_TASK,
  type BareInput,
  type BareTask,
  type BareTaskInput,
} from './contract.ts';
import { bareTabled, loop, OPTIONS } from './workflows.ts';

// One bundle contains the workflows of both files.
export { bareCarried, bareTabled } from './workflows.ts';

const stateQuery = defineQuery<string>(BARE_TASK.state);
const claimUpdate = defineUpdate<string, [{ member: string }]>(BARE_TASK.claim);
const completeUpdate = defineUpdate<void, [{ member: string; result: string }]>(BARE_TASK.complete);
const rows = proxyLocalActivities<AgentsActivities>(OPTIONS);

/** Loop B with `spawn` as its tool: each call is an assignment that continues by itself. */
export async function bareParent({ conversation }: { conversation: string }): Promise<void> {
  await loop(conversation, async (_, call) => {
    const child = await rows.open_child(call);
    await startChild(bareAssignment, {
      workflowId: child,
      args: [{ conversation: child, text: '' }],
      parentClosePolicy: ParentClosePolicy.ABANDON,
    });
  });
}

/** An assignment that can be followed and stopped apart from its conversation, which is loop B as its child. */
export async function bareAssignment(turn: BareInput): Promise<string> {
  return executeChild(bareTabled, { workflowId: `${turn.conversation}/turn`, args: [turn] });
}

/** Loop B with `team_tasks` as its tool, then a child workflow for each task. */
export async function bareLead({ conversation }: { conversation: string }): Promise<void> {
  const values: BareTask[] = [];
  await loop(conversation, async (_, call) => {
    const task = await rows.call_board(call);
    if (task) values.push(task);
  });
  await Promise.all(
    values.map(({ task, member }) => executeChild(bareTask, { workflowId: task, args: [{ task, member }] })),
  );
}

/**
 * The first claim gets the task; the others are refused before anything is written. The member's turn is loop B as a
 * child. The driver terminates a task that nobody completes.
 */
export async function bareTask({ task, member: assignee }: BareTaskInput): Promise<void> {
  let owner: string | undefined;
  let isCompleted = false;
  const claim = async (member: string): Promise<string> => {
    owner = member;
    await rows.claim_task({ task, member });
    return member;
  };
  const complete = async (result: string): Promise<void> => {
    isCompleted = true;
    await rows.complete_task({ task, result });
  };
  setHandler(stateQuery, () => owner ?? 'nobody');
  setHandler(claimUpdate, ({ member }) => claim(member), {
    validator(_asked: { member: string }) {
      if (owner !== undefined) throw ApplicationFailure.nonRetryable(`${owner} has it`, 'Conflict');
    },
  });
  setHandler(completeUpdate, ({ result }) => complete(result), {
    validator({ member }: { member: string; result: string }) {
      if (isCompleted || member !== owner)
        throw ApplicationFailure.nonRetryable(`${member} does not have it`, 'Conflict');
    },
  });
  if (assignee !== undefined) {
    await claim(assignee);
    const turn = { workflowId: `${task}/turn`, args: [{ conversation: task, text: '' }] as [BareInput] };
    const result = await executeChild(bareTabled, turn);
    if (!isCompleted) await complete(result);
  }
  await condition(() => isCompleted && allHandlersFinished());
}
