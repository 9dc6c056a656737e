/**
 * A Temporal worker with the AI SDK's plugin, as https://docs.temporal.io/develop/typescript/integrations/ai-sdk recommends: the
 * agent is a workflow, and model calls and tools are activities.
 */
import { fileURLToPath } from 'node:url';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { AiSdkPlugin } from '@temporalio/ai-sdk';
import { Client, Connection } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import { deliver, MODEL_URL, pay, serveTurns, settings } from '../served.ts';

const address = settings.temporalAddress;
const taskQueue = 'league';
const worker = await Worker.create({
  connection: await NativeConnection.connect({ address }),
  taskQueue,
  workflowsPath: fileURLToPath(new URL('./workflows.ts', import.meta.url)),
  plugins: [
    new AiSdkPlugin({
      modelProvider: createOpenAICompatible({ name: 'league', baseURL: MODEL_URL, apiKey: 'none' }),
    }),
  ],
  activities: { pay: ({ id }: { id: string }) => pay(id), deliver },
});
const client = new Client({ connection: await Connection.connect({ address }) });
const running = worker.run();
serveTurns((id, text) =>
  client.workflow.start('agent', {
    workflowId: id,
    taskQueue,
    args: [id, text],
    workflowIdConflictPolicy: 'USE_EXISTING',
  }),
);
await running;
