/**
 * An agent of LangGraph.js with its checkpointer for Postgres, as
 * https://docs.langchain.com/oss/javascript/langgraph/durable-execution recommends: a thread for each turn, checkpoints
 * before the next step starts (`durability: 'sync'`), and a call with `null` to continue a thread whose process has died.
 * Nothing continues it by itself, so the caller asks again.
 */
import { PostgresSaver } from '@langchain/langgraph-checkpoint-postgres';
import { ChatOpenAI } from '@langchain/openai';
import { createAgent, tool } from 'langchain';
import { z } from 'zod';
import { deliver, MODEL_URL, PAY, pay, serveTurns, settings } from '../served.ts';

const checkpointer = PostgresSaver.fromConnString(settings.databaseUrl);
await checkpointer.setup();
const agent = createAgent({
  model: new ChatOpenAI({ model: 'script', apiKey: 'none', configuration: { baseURL: MODEL_URL } }),
  tools: [tool(({ id }: { id: string }) => pay(id), { ...PAY, schema: z.object({ id: z.string() }) })],
  checkpointer,
});

const running = new Set<string>();

async function run(id: string, text: string): Promise<void> {
  const config = { configurable: { thread_id: id }, recursionLimit: 500, durability: 'sync' as const };
  const state = await agent.graph.getState(config);
  const isNew = Object.keys(state.values as object).length === 0;
  const input = isNew ? { messages: [{ role: 'user' as const, content: text }] } : null;
  const isOver = !isNew && state.next.length === 0;
  const { messages } = isOver
    ? (state.values as { messages: { text: string }[] })
    : await agent.invoke(input as never, config);
  await deliver(id, messages.at(-1)?.text ?? '');
}

serveTurns(async (id, text) => {
  if (running.has(id)) return;
  running.add(id);
  void run(id, text)
    .catch((error: unknown) => deliver(id, String(error), false))
    .finally(() => running.delete(id));
});
