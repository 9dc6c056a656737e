/**
 * The worker of those workflows as a program: `node shop-worker.ts`, with a JSON object in SHOP. Effects are lines of a
 * file, so that a test counts them whatever dies.
 */
import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { Context } from '@temporalio/activity';
import { bundleWorkflowCode, DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { TempoClawPlugin } from '../../../packages/temporal/src/plugin.ts';

export interface ShopSettings {
  readonly address: string;
  readonly taskQueue: string;
  readonly url: string;
  readonly key: string;
  readonly effects: string;
  /** Whether the worker has the plugin, and whether the workflows are bundled with it. */
  readonly isGuarded: boolean;
  /** The file of the bundled workflows, which the first worker writes. */
  readonly bundle: string;
}

export interface ShopActivities {
  refund(order: { order: string; euros: number }): Promise<string>;
  search(text: string): Promise<string>;
}

const settings: ShopSettings = JSON.parse(process.env['SHOP'] ?? '{}');
const { address, taskQueue, url, key, effects, isGuarded, bundle } = settings;

/** Orders `hold-before…` and `hold-after…` wait on that side of their effect for as long as the file says so. */
async function hold(order: string, side: 'before' | 'after'): Promise<void> {
  while (order.startsWith(`hold-${side}`)) {
    const text = await readFile(effects, 'utf8').catch(() => '');
    if (!text.includes(`held ${order}\n`)) await appendFile(effects, `held ${order}\n`);
    if (text.includes(`release ${order}\n`)) return;
    Context.current().heartbeat();
    await sleep(100);
  }
}

const activities: ShopActivities = {
  async refund({ order, euros }) {
    await hold(order, 'before');
    if (order.startsWith('fails'))
      throw new Error('the bank is closed; key sk-ant-api03-Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6');
    await appendFile(effects, `refund ${order} ${euros}\n`);
    await hold(order, 'after');
    return `refunded ${euros} with sk-ant-api03-Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6`;
  },
  async search(text) {
    await appendFile(effects, `search ${text}\n`);
    await hold(text, 'after');
    return text === 'bytes' ? 'found \0 and \ud800' : `found ${text}`;
  },
};

const plugin = new TempoClawPlugin({
  url,
  key,
  agent: 'shop',
  tools: {
    refund: { replay: 'once' },
    search: { replay: 'readonly', name: 'order_search', parameters: ['text'] },
  },
});
const plugins = isGuarded ? [plugin] : [];

async function bundled(): Promise<string> {
  const kept = await readFile(bundle, 'utf8').catch(() => undefined);
  if (kept !== undefined) return kept;
  const workflowsPath = fileURLToPath(new URL('./shop-workflows.ts', import.meta.url));
  const { code } = await bundleWorkflowCode({ workflowsPath, plugins, logger: new DefaultLogger('ERROR') });
  await writeFile(bundle, code);
  return code;
}

Runtime.install({ logger: new DefaultLogger('ERROR') });
const connection = await NativeConnection.connect({ address });
const worker = await Worker.create({
  connection,
  taskQueue,
  workflowBundle: { code: await bundled() },
  // After this a workflow goes on without the worker that was killed.
  stickyQueueScheduleToStartTimeout: '500 milliseconds',
  activities: { ...activities },
  plugins,
});
process.send?.('ready');
await worker.run();
