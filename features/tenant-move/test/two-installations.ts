/** Two real installations on the run's servers: each has a database, a namespace, a master key and folders of its own. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { FEATURES } from '#features';
import { readInstallation } from '#store/installation-store.ts';
import { schemaMark } from '#store/postgres/migrate.ts';
import { claimNamespace } from '#temporal/installation.ts';
import { ROWS } from '#test/support/rows.ts';
import { type Stack, startStack } from '#test/support/stack.ts';
import type { Installation } from '../installation.ts';
import { openAllMovedObjects } from '../moved-objects.ts';
import { loadConfig } from '#config';

export interface TwoInstallations {
  readonly old: Stack;
  readonly new: Stack;
  /** The namespace of the new one. */
  readonly namespace: string;
  readonly folder: string;
  /** As the commands open it. `lines` receives what it reports. */
  open(stack: Stack, lines?: string[]): Promise<Installation>;
  stop(): Promise<void>;
}

export async function startTwoInstallations(): Promise<TwoInstallations> {
  const folder = await mkdtemp(join(tmpdir(), 'tempoclaw-move-'));
  const namespace = `cell-${randomBytes(5).toString('hex')}`;
  const address = process.env['TEST_TEMPORAL_ADDRESS'] ?? '';
  const connection = await Connection.connect({ address });
  const { workflowService: service } = connection;
  await service.registerNamespace({
    namespace,
    workflowExecutionRetentionPeriod: { seconds: 86_400 as never },
  });
  // A new namespace takes a moment to reach the server's cache.
  while (!(await service.listWorkflowExecutions({ namespace }).then(() => true, ifMissing))) await sleep(200);
  const stacks = [
    await startStack(options(join(folder, 'old'))),
    await startStack({ ...options(join(folder, 'new')), env: { TEMPORAL_NAMESPACE: namespace } }),
  ] as const;
  await claimNamespace({ service, namespace }, await readInstallation(stacks[1].pool));
  return {
    old: stacks[0],
    new: stacks[1],
    namespace,
    folder,
    open: (stack, lines) =>
      openInstallation(stack, join(folder, stack === stacks[0] ? 'old' : 'new', 'artifacts'), lines),
    async stop() {
      for (const stack of stacks) await stack.stop();
      await connection.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** As the commands open it. */
export async function openInstallation(
  stack: Stack,
  store: string,
  lines: string[] = [],
): Promise<Installation> {
  const { workspaceRoot, databaseUrl, temporal } = stack.worker;
  const places = { workspaceRoot, artifacts: { store, s3: { region: 'us-east-1' } } };
  return {
    databaseUrl,
    pool: stack.pool,
    temporal,
    sealer: stack.deps.secrets.sealer,
    rows: ROWS,
    objects: await openAllMovedObjects(FEATURES, {
      config: { ...loadConfig({ env: {}, cwd: workspaceRoot }), ...places },
      resolveSetting: async (text) => text,
    }),
    schema: await schemaMark(FEATURES),
    report: (line) => lines.push(line),
  };
}

/** Large artifacts are in a folder. */
function options(root: string) {
  const artifacts = { store: join(root, 'artifacts'), s3: { region: 'us-east-1' } };
  return { artifacts, settings: JSON.stringify({ artifacts }) };
}

function ifMissing(error: unknown): boolean {
  if (/not found/i.test(String(error))) return false;
  throw error;
}
