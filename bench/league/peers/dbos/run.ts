/**
 * DBOS with the AI SDK, as https://docs.dbos.dev/integrations/vercel-ai recommends: the agent is a workflow, `durableCalls`
 * makes each model call a step, and the tool's `execute` is a step. A start recovers what was running.
 */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { DBOS } from '@dbos-inc/dbos-sdk';
import { durableCalls } from '@dbos-inc/vercel-ai';
import { generateText, stepCountIs, tool, wrapLanguageModel } from 'ai';
import { z } from 'zod';
import { deliver, MODEL_URL, PAY, pay, serveTurns, settings } from '../served.ts';

const provider = createOpenAICompatible({ name: 'league', baseURL: MODEL_URL, apiKey: 'none' });
const model = wrapLanguageModel({
  model: provider('script'),
  middleware: durableCalls({ retriesAllowed: true, maxAttempts: 5 }),
});

const agent = DBOS.registerWorkflow(
  async (id: string, prompt: string) => {
    const { text } = await generateText({
      model,
      prompt,
      maxRetries: 0,
      tools: {
        pay: tool({
          description: PAY.description,
          inputSchema: z.object({ id: z.string() }),
          execute: (input) => DBOS.runStep(() => pay(input.id), { name: 'pay' }),
        }),
      },
      stopWhen: stepCountIs(200),
    });
    await DBOS.runStep(() => deliver(id, text), { name: 'deliver' });
  },
  { name: 'agent' },
);

DBOS.setConfig({ name: 'league', systemDatabaseUrl: settings.databaseUrl, logLevel: 'warn' });
await DBOS.launch();
serveTurns((id, text) => DBOS.startWorkflow(agent, { workflowID: id })(id, text));
