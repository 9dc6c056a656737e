/**
 * Many agents by hand: a loop that starts another as its child, a task that is claimed by an update, a lead whose members
 * are children. Rows are written by local activities, as somebody would who wants it fast.
 */
import {
  ApplicationFailure,
  condition,
  defineQuery,
  defineUpdate,
  executeChild,
  ParentClosePolicy,
  proxyActivities,
  proxyLocalActivities,
  setHandler,
  startChild,
} from '@temporalio/workflow';
import {
  type AgentsActivities,
  BARE_TASK,
  type BareMember,
  type BareTask,
  type BareTaskInput,
  type TabledActivities,
  type TabledCall,
} from './contract.ts';
import { bareTabled } from './workflows.ts';

const OPTIONS = {
  startToCloseTimeout: '10 minutes',
  retry: { initialInterval: '200 milliseconds' },
} as const;
const rows = proxyLocalActivities<AgentsActivities>(OPTIONS);

/** Loop B with `spawn` as its tool: each call is a child that goes on by itself. */
export async function bareParent({ conversation }: { conversation: string }): Promise<void> {
  await loop(conversation, async (call) => {
    const child = await rows.open_child(call);
    await startChild(bareTabled, {
      workflowId: child,
      args: [{ conversation: child, text: '' }],
      parentClosePolicy: ParentClosePolicy.ABANDON,
    });
  });
}

/** Loop B with `team_tasks` as its tool; then a child workflow a member, with all its tasks. */
export async function bareLead({ conversation }: { conversation: string }): Promise<void> {
  const given = new Map<string, BareTask[]>();
  await loop(conversation, async (call) => {
    const task = await rows.call_board(call);
    if (task) given.set(task.member, [...(given.get(task.member) ?? []), task]);
  });
  await Promise.all(
    [...given].map(([member, tasks]) =>
      executeChild(bareMember, { workflowId: `${conversation}/${member}`, args: [{ tasks }] }),
    ),
  );
}

/** Works on all its tasks at once. */
export async function bareMember({ tasks }: BareMember): Promise<void> {
  await Promise.all(
    tasks.map(async ({ task, member }) => {
      await rows.claim_task({ task, member });
      const result = await bareTabled({ conversation: task, text: '' });
      await rows.complete_task({ task, result });
    }),
  );
}

/** Whoever comes first has it; the others are refused before anything is written. The driver terminates it. */
export async function bareTask({ task }: BareTaskInput): Promise<void> {
  let owner: string | undefined;
  setHandler(defineQuery<string | undefined>(BARE_TASK.state), () => owner ?? 'nobody');
  setHandler(
    defineUpdate<string, [{ member: string }]>(BARE_TASK.claim),
    async ({ member }) => {
      owner = member;
      await rows.claim_task({ task, member });
      return member;
    },
    {
      validator: (_asked: { member: string }) => {
        if (owner !== undefined) throw ApplicationFailure.nonRetryable(`${owner} has it`, 'Conflict');
      },
    },
  );
  await condition(() => false);
}

async function loop(conversation: string, run: (call: TabledCall) => Promise<void>): Promise<void> {
  const { ask_model_tabled } = proxyActivities<TabledActivities>(OPTIONS);
  for (let step = 1; ; step += 1) {
    const { calls } = await ask_model_tabled({ conversation, step });
    if (calls.length === 0) return;
    await Promise.all(calls.map((_, index) => run({ conversation, step, index })));
  }
}
