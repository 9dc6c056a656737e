/**
 * Implements the bare loops' activities. The model is TempoClaw's own rehearsal provider, so that both sides call the
 * same one.
 */
import { Context } from '@temporalio/activity';
import { z } from 'zod';
import { createRehearsal } from '#activities/model/rehearsal.ts';
import { createScriptStore } from '#activities/model/rehearsal-script.ts';
import type { ChatMessage } from '#domain/turn/message.ts';
import type { ModelAnswer } from '#domain/model/model.ts';
import type { AgentsActivities, CarriedActivities, TabledActivities, TabledCall } from './contract.ts';
import type { BareTables } from './tables.ts';
import { createBareTools } from './tools.ts';

type RequestedCall = Extract<ChatMessage, { role: 'assistant' }>['calls'][number];

const spawnArgs = z.object({ task: z.string() });
const taskArgs = z.discriminatedUnion('action', [
  z.object({ action: z.literal('list') }),
  z.object({ action: z.literal('create'), description: z.string(), assignee: z.string() }),
]);

export function createBareActivities(
  table: BareTables,
  scripts: string,
  folder: string,
): Record<string, (input: never) => Promise<unknown>> {
  const rehearsal = createRehearsal(createScriptStore([scripts]));
  const ask = (messages: readonly ChatMessage[]): Promise<ModelAnswer> =>
    rehearsal.generate({
      model: 'bench-loop',
      system: '',
      messages,
      tools: [],
      idempotencyKey: '',
      signal: Context.current().cancellationSignal,
      onDelta: () => undefined,
    });

  const ask_model: CarriedActivities['ask_model'] = async ({ messages }) => {
    const { text, calls } = await ask(messages);
    return { text, calls };
  };
  const ask_model_tabled: TabledActivities['ask_model_tabled'] = async ({ conversation, step }) => {
    const { text, calls } = await ask(await table.read(conversation));
    const requests = calls.map((call, index) => ({ id: `${step}.${index}`, ...call }));
    await table.write(conversation, step, -1, { role: 'assistant', text, calls: requests });
    return { text, calls: calls.map((call) => call.name) };
  };
  /** Reads the call's arguments and writes its result. */
  const answered = async (
    { conversation, step, index }: TabledCall,
    run: (call: RequestedCall) => Promise<string>,
  ): Promise<void> => {
    const asking = await table.readOne(conversation, step);
    const call = asking?.role === 'assistant' ? asking.calls[index] : undefined;
    if (!call) throw new Error(`${conversation} has no call ${step}.${index}`);
    const results = [{ callId: call.id, name: call.name, ok: true, text: await run(call) }];
    await table.write(conversation, step, index, { role: 'tool', results });
  };
  const idOf = ({ conversation, step, index }: TabledCall): string => `${conversation}.${step}.${index}`;
  const agents: AgentsActivities = {
    async open_child(of) {
      const child = idOf(of);
      await answered(of, async ({ args }) => {
        await table.write(child, 0, -1, { role: 'user', text: spawnArgs.parse(args).task });
        return child;
      });
      return child;
    },
    async call_board(of) {
      const values: Awaited<ReturnType<AgentsActivities['call_board']>>[] = [];
      await answered(of, async (call) => {
        const args = taskArgs.parse(call.args);
        if (args.action === 'list') return table.listTasks(of.conversation);
        const task = { task: idOf(of), member: args.assignee };
        await table.addTask(task, of.conversation);
        await table.write(task.task, 0, -1, { role: 'user', text: args.description });
        values.push(task);
        return task.task;
      });
      return values[0] ?? null;
    },
    claim_task: ({ task, member }) => table.claimTask(task, member),
    complete_task: ({ task, result }) => table.completeTask(task, result),
  };

  const activities: Record<string, (input: never) => Promise<unknown>> = {
    ask_model,
    ask_model_tabled,
    ...agents,
  };
  for (const [name, run] of Object.entries(createBareTools(folder))) {
    activities[name] = run;
    activities[`${name}_tabled`] = (of: TabledCall) => answered(of, ({ args }) => run(args));
  }
  return activities;
}
