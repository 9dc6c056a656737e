/**
 * A worker with a guarded activity: `TEMPOCLAW_URL=… TEMPOCLAW_API_KEY=… node worker.ts WORKFLOWS`, where WORKFLOWS is a file
 * whose workflows call the activity `refund`.
 */
import { env } from 'node:process';
import { Worker } from '@temporalio/worker';
import { TempoClawPlugin } from '../src/plugin.ts';

const { TEMPOCLAW_URL: url = 'http://127.0.0.1:7400', TEMPOCLAW_API_KEY: key = '' } = env;
const [, , workflowsPath = 'workflows.ts'] = process.argv;

const worker = await Worker.create({
  taskQueue: 'shop',
  workflowsPath,
  activities: { refund: async ({ order }: { order: string }) => `refunded ${order}` },
  plugins: [new TempoClawPlugin({ url, key, tools: { refund: { replay: 'once' } } })],
});
await worker.run();
