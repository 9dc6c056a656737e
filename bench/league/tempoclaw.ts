/**
 * TempoClaw as a side: its API, a worker, and a host of tools, which are all killed together. A webhook delivers the ends
 * of turns.
 */
import { join } from 'node:path';
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
import { ask, begin, keyOf, read } from './api.ts';
import { type Service, startDatabase, startTemporal } from './services.ts';
import type { RunningSide, Side, StartOptions } from './side.ts';
import packageJson from '../../package.json' with { type: 'json' };

const ROOT = join(import.meta.dirname, '..', '..');
/** The API's port is looked for from a random one on: beside another run, whose killed API leaves its port free. */
const PORTS = { from: 20_000, count: 10_000 };
const READY_MS = 120_000;
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

/** The processes that run an agent's code. */
export const PARTS = ['api', 'worker', 'host'] as const;
export type Part = (typeof PARTS)[number];

export interface RunningTempoclaw extends RunningSide {
  /** Sends SIGKILL to these, and starts them again. Resolves when they take work. */
  killAndRestart(parts: readonly Part[]): Promise<void>;
  /** The text that its API answers. */
  get(path: string): Promise<string>;
}

interface Processes {
  api: Child;
  worker: WorkerProcess;
  host: Child;
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
export async function startTempoclaw(options: TempoclawOptions): Promise<RunningTempoclaw> {
  const database = await startDatabase(options.stateDir);
  const temporal = await startTemporal(options.stateDir);
  try {
    return await startWith(options, database, temporal);
  } catch (error) {
    await temporal.stop();
    await database.stop();
    throw error;
  }
}

async function startWith(
  options: TempoclawOptions,
  database: Service,
  temporal: Service,
): Promise<RunningTempoclaw> {
  const { worldUrl, stateDir, log, tools, agent } = options;
  await prepare(database.address, temporal.address);
  const port = await nextFreePort(PORTS.from + Math.floor(Math.random() * PORTS.count));
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
  const parts = partsOf(env, { stateDir, folder: tools, url });
  const processes = await startParts(parts);
  const key = await keyOf(stateDir);
  await ask(url, key, '/v1/agents', agent);
  await ask(url, key, '/v1/webhooks', {
    url: `${worldUrl}/hooks`,
    events: ['turn.completed', 'turn.failed', 'turn.stopped'],
  });
  log('TempoClaw is ready');
  let restart = Promise.resolve();
  let isStopped = false;
  return {
    services: { database, engine: temporal },
    begin: (turn, text) => begin({ url, key, agent: agent.key }, turn, text),
    killWorker: () => PARTS.forEach((part) => killGroup(processes[part])),
    async restartWorker() {
      await endAll(processes);
      Object.assign(processes, await startParts(parts));
    },
    hasEnded: () => [processes.api, processes.host].some((child) => ended.has(child)),
    pids: () => PARTS.map((part) => processes[part].pid),
    killAndRestart(names) {
      if (isStopped) return Promise.resolve();
      restart = killAndStart(processes, parts, names);
      return restart;
    },
    get: (path) => read(url, key, path),
    async stop() {
      isStopped = true;
      // What is being started would outlive its servers.
      await restart.catch(() => undefined);
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

type Parts = { readonly [Name in Part]: () => Promise<Processes[Name]> };

/** Children that have ended by themselves. */
const ended = new WeakSet<Child>();

function partsOf(
  env: Readonly<Record<string, string>>,
  { stateDir, folder, url }: { readonly stateDir: string; readonly folder: string; readonly url: string },
): Parts {
  const logFile = (name: string): string => join(stateDir, 'logs', `${name}.log`);
  return {
    async api() {
      const { child } = await startNodeProgram<Ready>({
        name: 'The TempoClaw API',
        main: join(ROOT, 'api', 'main.ts'),
        env: childEnvironment(env),
        logFile: logFile('api'),
        stopGraceMs: 15_000,
      });
      void child.exited.then(() => ended.add(child));
      return child;
    },
    worker: () =>
      startWorkerProcess({
        name: 'The TempoClaw worker',
        main: join(ROOT, 'workers', 'main.ts'),
        env,
        logFile: logFile('worker'),
      }),
    async host() {
      const child = await startChild({
        name: 'The tool host',
        command: process.execPath,
        args: [join(ROOT, 'bin', 'tempoclaw.js'), 'tools', 'serve', folder, '--host', 'league', '--url', url],
        env: childEnvironment({ ...env, TEMPOCLAW_API_KEY: await keyOf(stateDir) }),
        logFile: logFile('host'),
      });
      void child.exited.then(() => ended.add(child));
      const isReady = (): true | undefined => (child.output().includes('Ctrl-C ends it') ? true : undefined);
      return waitUntil(child, isReady, READY_MS).then(
        () => child,
        (error: unknown) => child.stop().then(() => Promise.reject(error)),
      );
    },
  };
}

/** As a supervisor starts them; the host registers its tools with the API. */
async function startParts(parts: Parts): Promise<Processes> {
  const [api, worker] = await Promise.allSettled([parts.api(), parts.worker()]);
  try {
    if (api.status === 'rejected') throw api.reason;
    if (worker.status === 'rejected') throw worker.reason;
    return { api: api.value, worker: worker.value, host: await parts.host() };
  } catch (error) {
    for (const one of [api, worker]) if (one.status === 'fulfilled') await one.value.stop();
    throw error;
  }
}

async function killAndStart(processes: Processes, parts: Parts, names: readonly Part[]): Promise<void> {
  for (const name of names) killGroup(processes[name]);
  await Promise.all(names.map((name) => processes[name].stop()));
  const started = await Promise.allSettled([
    names.includes('api') && parts.api().then((api) => (processes.api = api)),
    names.includes('worker') && parts.worker().then((worker) => (processes.worker = worker)),
  ]);
  for (const one of started) if (one.status === 'rejected') throw one.reason;
  if (names.includes('host') || ended.has(processes.host)) processes.host = await parts.host();
}

/** With what it has started: a host of tools in Python has a process for them. */
function killGroup({ pid }: { readonly pid: number }): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    // It has ended by itself.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

async function endAll({ api, worker, host }: Processes): Promise<void> {
  await Promise.all([host.stop(), worker.stop(), api.stop()]);
}
