/**
 * TempoClaw as a side: its API, a worker, and a host of tools, which are all killed together. A webhook delivers the ends
 * of turns.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { childEnvironment } from '#config';
import type { Ready } from '#config/supervisor.ts';
import { FEATURES } from '#features';
import { readInstallation } from '#store/installation-store.ts';
import { migrate } from '#store/postgres/migrate.ts';
import { createPool } from '#store/postgres/pool.ts';
import { claimNamespace } from '#temporal/installation.ts';
import {
  type Child,
  nextFreePort,
  startChild,
  startNodeProgram,
  waitUntil,
} from '@tempoclaw/dev-services/processes';
import { startWorkerProcess, type WorkerProcess } from '../worker-process.ts';
import { startDatabase, startTemporal } from './services.ts';
import type { RunningSide, Side, StartOptions } from './side.ts';
import packageJson from '../../package.json' with { type: 'json' };

const ROOT = join(import.meta.dirname, '..', '..');
const FIRST_PORT = 21_900;
const READY_MS = 120_000;
/** A request that meets an API at its start, or without its database, is sent again for so long. */
const ACCEPT_MS = 30_000;
const AGENT = 'payer';

export const TEMPOCLAW: Side = {
  id: 'tempoclaw',
  title: 'TempoClaw',
  versions: `tempoclaw ${packageJson.version}`,
  page: 'docs/code-tools.md',
  resume: 'itself',
  victims: ['worker', 'database', 'engine'],
  start,
};

/** The same side, with the tool that can find out whether a payment has happened. */
export const TEMPOCLAW_CHECKED: Side = {
  ...TEMPOCLAW,
  id: 'tempoclaw-checked',
  title: 'TempoClaw, tool with a `probe`',
};

interface Processes {
  readonly api: Awaited<ReturnType<typeof startNodeProgram<Ready>>>['child'];
  readonly worker: WorkerProcess;
  readonly host: Child;
  readonly isEnded: () => boolean;
}

function start(options: StartOptions): Promise<RunningSide> {
  return startTempoclaw({
    ...options,
    tools: join(import.meta.dirname, 'tempoclaw'),
    agent: { key: AGENT, type: 'open', model: 'openai/script', limits: { iterations: 1_000 } },
    env: { LEAGUE_WORLD: options.worldUrl },
  });
}

export interface TempoclawOptions extends StartOptions {
  /** The folder whose `tools/` the host serves. */
  readonly tools: string;
  /** The agent that gets the messages. */
  readonly agent: { readonly key: string } & Readonly<Record<string, unknown>>;
  /** Variables of all its processes. */
  readonly env: Readonly<Record<string, string>>;
}

/** With servers of its own in `stateDir`. Throws when one of its programs does not start. */
export async function startTempoclaw(options: TempoclawOptions): Promise<RunningSide> {
  const { worldUrl, stateDir, log, tools, agent } = options;
  const database = await startDatabase(stateDir);
  const temporal = await startTemporal(stateDir);
  await prepare(database.address, temporal.address);
  const port = await nextFreePort(FIRST_PORT);
  const url = `http://127.0.0.1:${port}`;
  const env = {
    TEMPOCLAW_STATE_DIR: stateDir,
    TEMPOCLAW_TASK_QUEUE: 'league',
    TEMPOCLAW_LOG_LEVEL: 'warn',
    TEMPOCLAW_SANDBOX: 'off',
    TEMPOCLAW_PORT: String(port),
    TEMPOCLAW_RATE_LIMIT_PER_MINUTE: '0',
    TEMPOCLAW_EGRESS_ALLOW_PRIVATE: new URL(worldUrl).host,
    TEMPORAL_ADDRESS: temporal.address,
    TEMPORAL_NAMESPACE: 'default',
    DATABASE_URL: database.address,
    OPENAI_BASE_URL: `${worldUrl}/v1`,
    OPENAI_API_KEY: 'none',
    ...options.env,
  };
  let processes = await startProcesses(env, stateDir, tools, url);
  const key = await keyOf(stateDir);
  await ask(url, key, '/v1/agents', agent);
  await ask(url, key, '/v1/webhooks', {
    url: `${worldUrl}/hooks`,
    events: ['turn.completed', 'turn.failed', 'turn.stopped'],
  });
  log('TempoClaw is ready');
  return {
    services: { database, engine: temporal },
    begin: (turn, text) => begin({ url, key, agent: agent.key }, turn, text),
    killWorker() {
      // With what each has started: a host of tools in Python has a process for them.
      for (const { pid } of [processes.api, processes.worker, processes.host]) process.kill(-pid, 'SIGKILL');
    },
    async restartWorker() {
      await endAll(processes);
      processes = await startProcesses(env, stateDir, tools, url);
    },
    hasEnded: () => processes.isEnded(),
    pids: () => [processes.api.pid, processes.worker.pid, processes.host.pid],
    async stop() {
      await endAll(processes);
      await temporal.stop();
      await database.stop();
    },
  };
}

async function prepare(databaseUrl: string, address: string): Promise<void> {
  await migrate(databaseUrl, FEATURES);
  const pool = createPool({
    url: databaseUrl,
    size: 2,
    applicationName: 'league',
    onIdleError: () => undefined,
  });
  const connection = await Connection.connect({ address });
  try {
    await claimNamespace(
      { service: connection.workflowService, namespace: 'default' },
      await readInstallation(pool),
    );
  } finally {
    await connection.close();
    await pool.end();
  }
}

/** All three start at the same time, as a supervisor starts them. */
async function startProcesses(
  env: Readonly<Record<string, string>>,
  stateDir: string,
  folder: string,
  url: string,
): Promise<Processes> {
  const logFile = (name: string): string => join(stateDir, 'logs', `${name}.log`);
  const [{ child: api }, worker] = await Promise.all([
    startNodeProgram<Ready>({
      name: 'The TempoClaw API',
      main: join(ROOT, 'api', 'main.ts'),
      env: childEnvironment(env),
      logFile: logFile('api'),
      stopGraceMs: 15_000,
    }),
    startWorkerProcess({
      name: 'The TempoClaw worker',
      main: join(ROOT, 'workers', 'main.ts'),
      env,
      logFile: logFile('worker'),
    }),
  ]);
  const host = await startChild({
    name: 'The tool host',
    command: process.execPath,
    args: [join(ROOT, 'bin', 'tempoclaw.js'), 'tools', 'serve', folder, '--host', 'league', '--url', url],
    env: childEnvironment({ ...env, TEMPOCLAW_API_KEY: await keyOf(stateDir) }),
    logFile: logFile('host'),
  });
  await waitUntil(host, () => (host.output().includes('Ctrl-C ends it') ? true : undefined), READY_MS);
  let isEnded = false;
  for (const { exited } of [api, host]) void exited.then(() => (isEnded = true));
  return { api, worker, host, isEnded: () => isEnded };
}

async function endAll({ api, worker, host }: Processes): Promise<void> {
  await Promise.all([host.stop(), worker.stop(), api.stop()]);
}

async function keyOf(stateDir: string): Promise<string> {
  return (await readFile(join(stateDir, 'api-key'), 'utf8')).trim();
}

async function begin(
  { url, key, agent }: { readonly url: string; readonly key: string; readonly agent: string },
  turn: string,
  text: string,
): Promise<void> {
  for (const until = performance.now() + ACCEPT_MS; ; await sleep(100))
    try {
      return await ask(url, key, `/v1/sessions/${turn}/messages`, { text, agent }, turn);
    } catch (error) {
      if (performance.now() > until) throw error;
    }
}

async function ask(url: string, key: string, path: string, body: object, once = ''): Promise<void> {
  const response = await fetch(url + path, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      ...(once && { 'idempotency-key': once }),
    },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${(await response.text()).slice(0, 500)}`);
  await response.body?.cancel();
}
