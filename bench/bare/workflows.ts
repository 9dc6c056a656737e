/**
 * The bare loops are what an engineer writes by hand on Temporal: in each step, one model activity and the tools'
 * activities.
 */
import { proxyActivities } from '@temporalio/workflow';
import type { ChatMessage } from '#domain/turn/message.ts';
import type { OfferedTool, BareInput, CarriedActivities, TabledActivities, TabledCall } from './contract.ts';

export const OPTIONS = {
  startToCloseTimeout: '10 minutes',
  retry: { initialInterval: '200 milliseconds' },
} as const;

/** Loop A: messages are activity input and output. */
export async function bareCarried(input: BareInput): Promise<string> {
  const { ask_model } = proxyActivities<CarriedActivities>(OPTIONS);
  const tools = proxyActivities<Record<string, (args: OfferedTool['args']) => Promise<string>>>(OPTIONS);
  const messages: ChatMessage[] = [{ role: 'user', text: input.text }];
  for (let step = 1; ; step += 1) {
    const { text, calls } = await ask_model({ messages });
    if (calls.length === 0) return text;
    const requests = calls.map((call, index) => ({ id: `${step}.${index}`, ...call }));
    messages.push({ role: 'assistant', text, calls: requests });
    const results = await Promise.all(
      requests.map(async ({ id, name, args }) => ({
        callId: id,
        name,
        ok: true,
        text: (await tools[name]?.(args)) ?? '',
      })),
    );
    messages.push({ role: 'tool', results });
  }
}

/** Loop B: messages are rows, and activities get their ids. The driver has written the user's row. */
export async function bareTabled({ conversation }: BareInput): Promise<string> {
  const tools = proxyActivities<Record<string, (call: TabledCall) => Promise<void>>>(OPTIONS);
  return loop(conversation, async (name, call) => tools[`${name}_tabled`]?.(call));
}

/** Loop B, whatever runs its calls. */
export async function loop(
  conversation: string,
  run: (name: string, call: TabledCall) => Promise<void>,
): Promise<string> {
  const { ask_model_tabled } = proxyActivities<TabledActivities>(OPTIONS);
  for (let step = 1; ; step += 1) {
    const { text, calls } = await ask_model_tabled({ conversation, step });
    if (calls.length === 0) return text;
    await Promise.all(calls.map((name, index) => run(name, { conversation, step, index })));
  }
}
