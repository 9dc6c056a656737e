/** A worker of another namespace, whose workflow is the one of docs/nexus.md. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection, type WorkflowHandle } from '@temporalio/client';
import { bundleWorkflowCode, NativeConnection, Worker } from '@temporalio/worker';
import { quietRuntime } from '#test/support/quiet-runtime.ts';
import type { TurnOutput } from '../contract.ts';

const ROOT = join(import.meta.dirname, '../../..');
const NAMESPACE = 'nexus-callers';
const TASK_QUEUE = 'callers';

export type Asking = (
  endpoint: string,
  text: string,
  session?: string,
  agent?: string,
) => Promise<TurnOutput>;

export interface NexusCaller {
  readonly namespace: string;
  /** Makes an endpoint that leads to the task queue of our workers. */
  connect(endpoint: string, taskQueue: string): Promise<void>;
  /** Starts the workflow. */
  start(...args: Parameters<Asking>): Promise<WorkflowHandle<Asking>>;
  ask(...args: Parameters<Asking>): Promise<TurnOutput>;
  stop(): Promise<void>;
}

export async function startCaller(address: string): Promise<NexusCaller> {
  quietRuntime();
  const connection = await Connection.connect({ address });
  await makeNamespace(connection);
  const native = await NativeConnection.connect({ address });
  const worker = await Worker.create({
    connection: native,
    namespace: NAMESPACE,
    taskQueue: TASK_QUEUE,
    workflowBundle: await bundleOfDocs(),
  });
  const running = worker.run();
  const { workflow } = new Client({ connection, namespace: NAMESPACE });
  let started = 0;
  const start: NexusCaller['start'] = async (...args) => {
    started += 1;
    const workflowId = `caller-${args[0]}-${started}`;
    return workflow.start<Asking>('askAgent', { workflowId, taskQueue: TASK_QUEUE, args });
  };
  const endpoints: { id: string; version: unknown }[] = [];
  return {
    namespace: NAMESPACE,
    start,
    ask: async (...args) => (await start(...args)).result(),
    async connect(name, taskQueue) {
      const target = { worker: { namespace: 'default', taskQueue } };
      const { endpoint } = await connection.operatorService.createNexusEndpoint({ spec: { name, target } });
      endpoints.push({ id: String(endpoint?.id), version: endpoint?.version ?? 1 });
    },
    async stop() {
      for (const one of endpoints) await connection.operatorService.deleteNexusEndpoint(one as never);
      worker.shutdown();
      await running;
      await native.close();
      await connection.close();
    },
  };
}

/** A server takes some seconds until all of its parts know a new namespace. */
async function makeNamespace({ workflowService }: Connection): Promise<void> {
  await workflowService
    .registerNamespace({
      namespace: NAMESPACE,
      workflowExecutionRetentionPeriod: { seconds: 86_400 as never },
    })
    .catch((error: unknown) => {
      if (!/already exists/i.test(String(error))) throw error;
    });
  for (let attempt = 0; ; attempt += 1) {
    const count = workflowService.countWorkflowExecutions({ namespace: NAMESPACE });
    if (await count.then(Boolean, (error: unknown) => attempt >= 100 && Promise.reject(error))) return;
    await sleep(200);
  }
}

async function bundleOfDocs(): Promise<{ code: string }> {
  const page = await readFile(join(ROOT, 'docs/nexus.md'), 'utf8');
  const code = /```ts\n([\s\S]+?)```/.exec(page)?.[1] ?? '';
  const folder = await mkdtemp(join(tmpdir(), 'caller-'));
  try {
    const workflowsPath = join(folder, 'workflows.ts');
    await writeFile(workflowsPath, code);
    const quiet = (): void => undefined;
    return await bundleWorkflowCode({
      workflowsPath,
      // The file belongs to no package.
      webpackConfigHook: (config) => ({
        ...config,
        resolve: { ...config.resolve, modules: [join(ROOT, 'node_modules')] },
      }),
      logger: { log: quiet, trace: quiet, debug: quiet, info: quiet, warn: quiet, error: quiet },
    });
  } finally {
    await rm(folder, { recursive: true });
  }
}
