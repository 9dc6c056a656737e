/**
 * Runs a command beside a Postgres and a Temporal dev server, whose addresses it finds in DATABASE_URL and
 * TEMPORAL_ADDRESS, and ends both after it: `node with-services.ts FOLDER COMMAND ARGUMENTS…`. The data stays in the
 * folder. Only one of these runs there, and what a killed one left running is ended first.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { env as variables } from 'node:process';
import {
  isPostgresOf,
  isTemporalOf,
  obtainTemporalBinary,
  startPostgres,
  startTemporalServer,
} from '@tempoclaw/dev-services';
import { createParts, endLeftovers, takeRunFolder } from '@tempoclaw/dev-services/processes';
import { runSteps } from '@tempoclaw/dev-services/steps';

const [folder, program, ...args] = process.argv.slice(2);
if (folder === undefined || program === undefined) throw new Error('give a folder and a command');

const env = variables as Record<string, string>;
const cacheDir = env['CACHE_FOLDER'] ?? join(tmpdir(), 'dev-services-cache');
const run = await takeRunFolder<{ databaseUrl: string; temporal: string }>({ folder, name: 'example' });
if (run === undefined) throw new Error(`another one runs in ${folder}`);
const stateDir = realpathSync(folder);
for (const left of await endLeftovers([
  { name: 'Temporal', isPart: isTemporalOf(stateDir) },
  { name: 'Postgres', isPart: isPostgresOf(stateDir), signal: 'SIGINT' },
]))
  console.error(`ended what a killed one left: ${left}`);

const parts = createParts<'temporal' | 'postgres'>({
  order: ['temporal', 'postgres'],
  onEvent: (text) => console.error(text),
  onSpawn: (name, child) => run.remember(name, child.pid),
  onEnd: (name) => run.forget(name),
});
let databaseUrl = '';
let temporal = '';
try {
  await runSteps(
    [
      [
        {
          key: 'postgres',
          title: 'Postgres',
          async run(onProgress) {
            await parts.keep('postgres', 'Postgres', async () => {
              const onSpawn = parts.spawned('postgres');
              const server = await startPostgres({ stateDir, cacheDir, env, port: 0, onProgress, onSpawn });
              databaseUrl = server.url;
              return server.child;
            });
            return 'ready';
          },
        },
        {
          key: 'temporal',
          title: 'Temporal',
          async run(onProgress) {
            const folders = (env['PATH'] ?? '').split(delimiter);
            const { path: binary } = await obtainTemporalBinary({ cacheDir, folders, env, onProgress });
            await parts.keep('temporal', 'Temporal', async () => {
              const onSpawn = parts.spawned('temporal');
              const options = { binary, stateDir, env, namespace: 'default', port: 0, uiPort: 0, onSpawn };
              const server = await startTemporalServer(options);
              temporal = server.address;
              return server.child;
            });
            return 'ready';
          },
        },
      ],
    ],
    { json: true, write: (line) => console.error(line) },
  );
  run.publish({ databaseUrl, temporal });
  const child = spawn(program, args, {
    stdio: 'inherit',
    env: { ...env, DATABASE_URL: databaseUrl, TEMPORAL_ADDRESS: temporal },
  });
  const [code] = (await once(child, 'exit')) as [number | null];
  process.exitCode = code ?? 1;
} finally {
  await parts.stop();
  run.release();
}
