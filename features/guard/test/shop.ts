/** A shop with workflows of its own, whose worker a test starts and kills. */
import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { appendFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection, type WorkflowHandle } from '@temporalio/client';
import type { ShopSettings } from './shop-worker.ts';

export interface Shop {
  readonly client: Client;
  startWorker(options?: Partial<ShopSettings>): Promise<void>;
  /** Sends SIGKILL by pid; resolves when the process is gone. */
  killWorker(): Promise<void>;
  start(workflow: string, ...args: unknown[]): Promise<WorkflowHandle>;
  run(workflow: string, ...args: unknown[]): Promise<unknown>;
  /** The lines of effects that begin so. */
  effects(start: string): Promise<readonly string[]>;
  note(line: string): Promise<void>;
  stop(): Promise<void>;
}

export async function openShop(
  address: string,
  api: { readonly url: string; readonly key: string },
): Promise<Shop> {
  const folder = await mkdtemp(join(tmpdir(), 'shop-'));
  const effects = join(folder, 'effects');
  const taskQueue = `shop-${randomUUID()}`;
  const connection = await Connection.connect({ address });
  const client = new Client({ connection });
  const workers: ChildProcess[] = [];

  async function killWorker(): Promise<void> {
    const worker = workers.pop();
    if (!worker || worker.exitCode !== null || worker.signalCode !== null) return;
    const gone = once(worker, 'exit');
    worker.kill('SIGKILL');
    await gone;
  }

  const start: Shop['start'] = (workflow, ...args) =>
    client.workflow.start(workflow, { taskQueue, args, workflowId: `shop-${randomUUID()}` });
  return {
    client,
    killWorker,
    start,
    run: async (...args) => (await start(...args)).result(),
    async startWorker(options) {
      const isGuarded = options?.isGuarded ?? true;
      const bundle = join(folder, isGuarded ? 'guarded.js' : 'plain.js');
      const settings: ShopSettings = { address, taskQueue, ...api, effects, isGuarded, bundle, ...options };
      const file = join(import.meta.dirname, 'shop-worker.ts');
      const worker = fork(file, {
        env: { ...process.env, SHOP: JSON.stringify(settings) },
        stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      });
      workers.push(worker);
      await Promise.race([
        once(worker, 'message'),
        once(worker, 'exit').then(() => Promise.reject(new Error('the worker of the shop did not start'))),
      ]);
    },
    async effects(begin) {
      const text = await readFile(effects, 'utf8').catch(() => '');
      return text.split('\n').filter((line) => line.startsWith(begin));
    },
    note: (line) => appendFile(effects, `${line}\n`),
    async stop() {
      while (workers.length > 0) await killWorker();
      await connection.close();
      await rm(folder, { recursive: true });
    },
  };
}
