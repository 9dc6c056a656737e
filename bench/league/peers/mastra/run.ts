/**
 * A durable agent of Mastra with its storage in Postgres and automatic recovery, as
 * https://mastra.ai/docs/harness/durable-agents recommends. The deployer's server calls `recoverAllDurableAgents` at its
 * start; this program has no such server, so it does. A recovered run is observed by its id.
 */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { Mastra } from '@mastra/core';
import { Agent } from '@mastra/core/agent';
import { createDurableAgent } from '@mastra/core/agent/durable';
import { createTool } from '@mastra/core/tools';
import { PostgresStore } from '@mastra/pg';
import { z } from 'zod';
import { deliver, MODEL_URL, PAY, pay, serveTurns, settings } from '../served.ts';

const provider = createOpenAICompatible({ name: 'league', baseURL: MODEL_URL, apiKey: 'none' });
const payer = createDurableAgent({
  agent: new Agent({
    id: 'payer',
    name: 'payer',
    instructions: 'You pay bills.',
    model: provider('script'),
    tools: {
      pay: createTool({
        id: PAY.name,
        description: PAY.description,
        inputSchema: z.object({ id: z.string() }),
        execute: ({ id }: { id: string }) => pay(id),
      }),
    },
  }),
  maxSteps: 200,
});
const storage = new PostgresStore({ id: 'league', connectionString: settings.databaseUrl });
await storage.init();
export const mastra = new Mastra({ agents: { payer }, storage, recovery: { durableAgents: 'auto' } });

interface Started {
  readonly output: { readonly text: Promise<string> };
  cleanup(): void;
}

async function finish(id: string, { output, cleanup }: Started): Promise<void> {
  try {
    await deliver(id, await output.text);
  } catch (error) {
    await deliver(id, String(error), false);
  } finally {
    cleanup();
  }
}

const { runs } = await payer.listActiveRuns();
for (const { runId } of runs) void payer.recover(runId).then((started) => finish(runId, started as Started));
serveTurns(async (id, text) => void finish(id, (await payer.stream(text, { runId: id })) as Started));
