/**
 * Runs the bare loops' worker process, with the same options as TempoClaw's own. Its settings are one JSON argument.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { Pool } from 'pg';
import { z } from 'zod';
import { createBareActivities } from './activities.ts';
import { createBareTables } from './tables.ts';

const settings = z
  .object({
    address: z.string(),
    databaseUrl: z.string(),
    taskQueue: z.string(),
    scripts: z.string(),
    folder: z.string(),
    bundleFile: z.string(),
  })
  .parse(JSON.parse(process.argv[2] ?? '{}'));

Runtime.install({ logger: new DefaultLogger('WARN'), shutdownSignals: ['SIGTERM', 'SIGINT'] });
const pool = new Pool({ connectionString: settings.databaseUrl, max: 20 });
const connection = await NativeConnection.connect({ address: settings.address });
const worker = await Worker.create({
  connection,
  taskQueue: settings.taskQueue,
  workflowBundle: { code: await loadBundle(settings.bundleFile) },
  activities: createBareActivities(createBareTables(pool), settings.scripts, settings.folder),
  maxConcurrentActivityTaskExecutions: 100,
  maxConcurrentWorkflowTaskExecutions: 40,
  maxCachedWorkflows: 250,
  maxEagerActivityReservationsPerWorkflowTask: 16,
  stickyQueueScheduleToStartTimeout: '500 milliseconds',
});
const running = worker.run();
process.send?.({ type: 'ready' });
await running;
await connection.close();
await pool.end();

async function loadBundle(file: string): Promise<string> {
  const kept = await readFile(file, 'utf8').catch(() => undefined);
  if (kept !== undefined) return kept;
  const { code } = await bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL('./agents-workflows.ts', import.meta.url)),
    logger: new DefaultLogger('WARN'),
  });
  await writeFile(file, code);
  return code;
}
