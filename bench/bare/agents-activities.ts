/** What the bare loops of many agents do besides asking their model: rows for children and for tasks. */
import { z } from 'zod';
import type { AgentsActivities, TabledCall } from './contract.ts';
import type { ConversationTable } from './conversation-table.ts';
import type { TaskTable } from './task-table.ts';

const spawnArgs = z.object({ task: z.string() });
const taskArgs = z.discriminatedUnion('action', [
  z.object({ action: z.literal('list') }),
  z.object({ action: z.literal('create'), description: z.string(), assignee: z.string() }),
]);

export function createAgentsActivities(table: ConversationTable, tasks: TaskTable): AgentsActivities {
  const asked = async ({ conversation, step, index }: TabledCall) => {
    const asking = await table.readOne(conversation, step);
    const call = asking?.role === 'assistant' ? asking.calls[index] : undefined;
    if (!call) throw new Error(`${conversation} has no call ${step}.${index}`);
    return call;
  };
  const answer = async (of: TabledCall, callId: string, name: string, text: string): Promise<void> => {
    const results = [{ callId, name, ok: true, text }];
    await table.write(of.conversation, of.step, of.index, { role: 'tool', results });
  };
  const idOf = ({ conversation, step, index }: TabledCall): string => `${conversation}.${step}.${index}`;
  return {
    async open_child(of) {
      const call = await asked(of);
      const child = idOf(of);
      await table.write(child, 0, -1, { role: 'user', text: spawnArgs.parse(call.args).task });
      await answer(of, call.id, call.name, child);
      return child;
    },
    async call_board(of) {
      const call = await asked(of);
      const args = taskArgs.parse(call.args);
      if (args.action === 'list') {
        await answer(of, call.id, call.name, await tasks.list(of.conversation));
        return null;
      }
      const { description, assignee } = args;
      const task = { task: idOf(of), member: assignee };
      await tasks.add(task, of.conversation);
      await table.write(task.task, 0, -1, { role: 'user', text: description });
      await answer(of, call.id, call.name, task.task);
      return task;
    },
    claim_task: ({ task, member }) => tasks.claim(task, member),
    complete_task: ({ task, result }) => tasks.complete(task, result),
  };
}
