/**
 * Everything that a bench run needs, in a folder of its own: Postgres (durable), the workers, and either the tuned dev
 * server of Temporal or a production-like server with its own Postgres.
 */
import { FEATURES } from '#features';
import { randomBytes } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DatabaseSync } from 'node:sqlite';
import { Client, Connection } from '@temporalio/client';
import type pg from 'pg';
import { childEnvironment, commandFolders, userCacheDir } from '#config';
import type { Ready } from '#config/supervisor.ts';
import { createPool } from '#store/postgres/pool.ts';
import { readInstallation } from '#store/installation-store.ts';
import { migrate } from '#store/postgres/migrate.ts';
import { nextFreePort, startNodeProgram } from '@tempoclaw/dev-services/processes';
import { OWN_POSTGRES, OWN_TEMPORAL } from '#features/local/own-servers.ts';
import { obtainTemporalBinary, startPostgres, startTemporalServer } from '@tempoclaw/dev-services';
import { claimNamespace } from '#temporal/installation.ts';
import { startProductionTemporal } from '#test/support/production-temporal.ts';
import { BARE_TABLES } from './bare/tables.ts';
import { startWorkerProcess, type WorkerProcessOptions, type WorkerProcess } from './worker-process.ts';
import { type ModelServer, startModelServer } from './model-server.ts';

export interface BenchStack {
  readonly address: string;
  readonly client: Client;
  readonly pool: pg.Pool;
  /** `temporalStore` is the Postgres of a server that has one. */
  readonly pids: { readonly temporal: number; readonly postgres: number; readonly temporalStore?: number };
  /** Starts the worker of a side. The caller stops it; the stack stops at its end whatever still runs. */
  startWorker(
    side: 'bare' | 'tempoclaw',
    settings?: Readonly<Record<string, string>>,
  ): Promise<WorkerProcess>;
  /** Starts TempoClaw's API beside its worker, with an admin key. */
  startApi(settings?: Readonly<Record<string, string>>): Promise<ApiProcess>;
  /** The model server of the agents `bench-words` and `bench-work`. */
  readonly models: ModelServer;
  /** Where Temporal serves its metrics. */
  readonly metricsUrl: string;
  /** Committed transactions of TempoClaw's database and, on a server that has one, of Temporal's. */
  commits(): Promise<{ readonly postgres: number; readonly temporal: number | undefined }>;
  /** Bytes that the two stores hold now: rows, indexes, histories. */
  storage(): Promise<{ readonly temporal: number; readonly postgres: number }>;
  stop(): Promise<void>;
}

export interface ApiProcess {
  readonly url: string;
  readonly key: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/** Task queue of either side. */
export const QUEUES = { bare: 'bench-bare', tempoclaw: 'bench-tempoclaw' } as const;
/** A production-like server stores ports as smallint. */
const SERVER_PORT = 17_233;
const METRICS_PORT = 19_233;
/** Lines of random text that read_file reads. */
const NOISE_LINES = 2_000;
const SCRIPTS = fileURLToPath(new URL('./rehearsal', import.meta.url));

export interface BenchStackOptions {
  readonly profileDir?: string | undefined;
  /** Folder with the programs of a production-like server (scripts/build-temporal-server.ts). */
  readonly server?: string | undefined;
}

export async function startBenchStack(options: BenchStackOptions): Promise<BenchStack> {
  const stateDir = await mkdtemp(join(tmpdir(), 'tempoclaw-bench-'));
  // As root, Postgres runs as another user and must be able to enter the folder.
  await chmod(stateDir, 0o711);
  const stops: (() => Promise<unknown>)[] = [() => rm(stateDir, { recursive: true, force: true })];
  const stop = async (): Promise<void> => {
    for (const one of stops.splice(0).reverse()) await one();
  };
  try {
    const models = await startModelServer();
    stops.push(() => models.close());
    const services = await startServices(stateDir, stops, options.server);
    await migrate(services.databaseUrl, FEATURES);
    const pool = createPool({
      url: services.databaseUrl,
      size: 40,
      applicationName: 'bench',
      onIdleError: () => undefined,
    });
    stops.push(() => pool.end());
    await pool.query(BARE_TABLES);
    const folder = await makeWorkspace(stateDir);
    const connection = await Connection.connect({ address: services.address });
    stops.push(() => connection.close());
    // The start of an installation claims the namespace, because workers claim none.
    await claimNamespace(
      { service: connection.workflowService, namespace: 'default' },
      await readInstallation(pool),
    );
    return {
      address: services.address,
      client: new Client({ connection }),
      pool,
      pids: services.pids,
      async startWorker(side, more = {}) {
        const program = workerProgram(side, stateDir, folder, services, models.url);
        const worker = await startWorkerProcess({
          ...program,
          env: { ...program.env, ...more },
          profileDir: options.profileDir,
        });
        stops.push(() => worker.stop());
        return worker;
      },
      models,
      metricsUrl: `http://127.0.0.1:${services.metricsPort}/metrics`,
      commits: async () => ({ postgres: await commitsOf(pool), temporal: await services.commits?.() }),
      async startApi(more = {}) {
        const { child, ready } = await startNodeProgram<Ready>({
          name: 'The TempoClaw API',
          main: fileURLToPath(new URL('../api/main.ts', import.meta.url)),
          env: childEnvironment({
            ...settingsOf(stateDir, services),
            TEMPOCLAW_PORT: '0',
            TEMPOCLAW_RATE_LIMIT_PER_MINUTE: '0',
            ...more,
          }),
          logFile: join(stateDir, 'logs', 'api.log'),
          stopGraceMs: 15_000,
        });
        stops.push(() => child.stop());
        const key = (await readFile(join(stateDir, 'api-key'), 'utf8')).trim();
        return { url: ready.address ?? '', key, pid: child.pid, stop: () => child.stop() };
      },
      storage: async () => ({ temporal: await services.stored(), postgres: await tableBytes(pool) }),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

interface Services {
  readonly address: string;
  readonly databaseUrl: string;
  readonly pids: BenchStack['pids'];
  readonly metricsPort: number;
  /** Bytes that Temporal has stored. */
  readonly stored: () => Promise<number>;
  readonly commits?: () => Promise<number>;
}

async function startServices(
  stateDir: string,
  stops: (() => Promise<unknown>)[],
  programs: string | undefined,
): Promise<Services> {
  const env = childEnvironment({});
  const cacheDir = userCacheDir();
  const metricsPort = await nextFreePort(METRICS_PORT);
  const postgres = await startPostgres({ ...OWN_POSTGRES, stateDir, cacheDir, env, port: 0 });
  stops.push(() => postgres.stop());
  if (programs !== undefined) {
    const store = await startPostgres({ stateDir: join(stateDir, 'temporal'), cacheDir, env, port: 0 });
    stops.push(() => store.stop());
    const port = await nextFreePort(SERVER_PORT);
    const server = await startProductionTemporal({
      programs,
      stateDir,
      env,
      databaseUrl: store.url,
      port,
      metricsPort,
    });
    stops.push(() => server.stop());
    const url = new URL(store.url);
    url.pathname = '/temporal';
    const pool = createPool({
      url: url.href,
      size: 1,
      applicationName: 'bench',
      onIdleError: () => undefined,
    });
    stops.push(() => pool.end());
    return {
      address: `127.0.0.1:${port}`,
      databaseUrl: postgres.url,
      pids: { temporal: server.pid, postgres: postgres.pid, temporalStore: store.pid },
      metricsPort,
      stored: () => tableBytes(pool),
      commits: () => commitsOf(pool),
    };
  }
  const { path } = await obtainTemporalBinary({ cacheDir, env, folders: commandFolders() });
  const temporal = await startTemporalServer({
    ...OWN_TEMPORAL,
    binary: path,
    stateDir,
    env,
    namespace: 'default',
    port: 0,
    uiPort: 0,
    ui: false,
    metricsPort,
  });
  stops.push(() => temporal.stop());
  return {
    address: temporal.address,
    databaseUrl: postgres.url,
    pids: { temporal: temporal.pid, postgres: postgres.pid },
    metricsPort,
    stored: async () => sqliteBytes(join(stateDir, 'temporal.db')),
  };
}

/** Makes the folder of TempoClaw's agent `bench`, which the bare tools use too. */
async function makeWorkspace(stateDir: string): Promise<string> {
  const folder = join(stateDir, 'workspaces', 'default', 'bench');
  await mkdir(folder, { recursive: true });
  const lines = Array.from({ length: NOISE_LINES }, () => randomBytes(48).toString('base64'));
  await writeFile(join(folder, 'noise.txt'), lines.join('\n'));
  return folder;
}

/** Settings of worker and API. */
function settingsOf(stateDir: string, { address, databaseUrl }: Services): Record<string, string> {
  return {
    TEMPOCLAW_STATE_DIR: stateDir,
    TEMPOCLAW_TASK_QUEUE: QUEUES.tempoclaw,
    TEMPOCLAW_LOG_LEVEL: 'warn',
    TEMPORAL_ADDRESS: address,
    TEMPORAL_NAMESPACE: 'default',
    DATABASE_URL: databaseUrl,
  };
}

function workerProgram(
  side: 'bare' | 'tempoclaw',
  stateDir: string,
  folder: string,
  services: Services,
  modelsUrl: string,
): Omit<WorkerProcessOptions, 'profileDir'> {
  const { address, databaseUrl } = services;
  const logFile = join(stateDir, 'logs', `${side}.log`);
  if (side === 'tempoclaw')
    return {
      name: 'The TempoClaw worker',
      main: fileURLToPath(new URL('../workers/main.ts', import.meta.url)),
      logFile,
      env: {
        ...settingsOf(stateDir, services),
        TEMPOCLAW_REHEARSAL_DIR: SCRIPTS,
        TEMPOCLAW_SANDBOX: 'off',
        OPENAI_BASE_URL: modelsUrl,
      },
    };
  const settings = {
    address,
    databaseUrl,
    taskQueue: QUEUES.bare,
    scripts: SCRIPTS,
    folder,
    bundleFile: join(stateDir, 'bare-bundle.js'),
  };
  return {
    name: 'The bare worker',
    main: fileURLToPath(new URL('./bare/worker.ts', import.meta.url)),
    args: [JSON.stringify(settings)],
    logFile,
    env: {},
  };
}

function sqliteBytes(file: string): number {
  const db = new DatabaseSync(file, { readOnly: true });
  try {
    const pages = db
      .prepare(
        'select (page_count - freelist_count) * page_size as bytes from pragma_page_count, pragma_freelist_count, pragma_page_size',
      )
      .get();
    return Number(pages?.['bytes'] ?? 0);
  } finally {
    db.close();
  }
}

async function tableBytes(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query<{ bytes: string }>(
    `select sum(pg_total_relation_size(oid)) as bytes from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`,
  );
  return Number(rows[0]?.bytes ?? 0);
}

async function commitsOf(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query<{ commits: string }>(
    'select xact_commit as commits from pg_stat_database where datname = current_database()',
  );
  return Number(rows[0]?.commits ?? 0);
}
