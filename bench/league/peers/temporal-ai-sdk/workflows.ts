/** The workflow of the agent: https://docs.temporal.io/develop/typescript/integrations/ai-sdk. */
import { temporalProvider } from '@temporalio/ai-sdk/workflow';
import { proxyActivities } from '@temporalio/workflow';
import { generateText, stepCountIs, tool } from 'ai';
import { z } from 'zod';

interface Activities {
  pay(input: { id: string }): Promise<string>;
  deliver(id: string, text: string): Promise<void>;
}

/** The timeout of the documentation's example, and the default retries. */
const { pay, deliver } = proxyActivities<Activities>({ startToCloseTimeout: '1 minute' });

export async function agent(id: string, prompt: string): Promise<void> {
  const { text } = await generateText({
    model: temporalProvider.languageModel('script'),
    prompt,
    tools: {
      pay: tool({
        description: 'Pay the bill with this id. A second call pays it again.',
        inputSchema: z.object({ id: z.string() }),
        execute: pay,
      }),
    },
    stopWhen: stepCountIs(200),
  });
  await deliver(id, text);
}
