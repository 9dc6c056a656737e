/**
 * The whole of TempoClaw as processes, for tests that inject faults: Postgres and Temporal with their data on disk, the
 * API and any number of workers. All ports stay the same over a restart.
 */
import { randomInt } from 'node:crypto';
import { chmod, copyFile, mkdir, readdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { childEnvironment, commandFolders, userCacheDir } from '#config';
import { insertAgent } from '#store/agent-store.ts';
import { insertApiKey, insertTenant } from '#store/api-key-store.ts';
import { migrate } from '#store/postgres/migrate.ts';
import { createPool, type Pool } from '#store/postgres/pool.ts';
import { hashSecret, makeKeyId, makeSecret } from '#api/server/auth.ts';
import { type Child, nextFreePort, startNodeProgram } from '@tempoclaw/dev-services/processes';
import { OWN_POSTGRES, OWN_TEMPORAL } from '#features/local/own-servers.ts';
import { obtainTemporalBinary, startPostgres, startTemporalServer } from '@tempoclaw/dev-services';
import type { AgentConfig } from '#domain/agent.ts';
import { loadWorkflowBundle } from '#workers/bundle.ts';
import { FEATURES } from '#features';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { engineVariables } from './engine.ts';
import { startPgBouncer } from './pgbouncer.ts';
import { createLossyProxy, type LossyProxy } from './lossy-proxy.ts';
import { startProductionTemporal } from './production-temporal.ts';
import { createKillable, type Killable } from './worker-process.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Longer than anything takes after a fault, even on a busy machine. */
const PATIENCE_MS = 90_000;

export interface Tenant {
  readonly id: string;
  readonly key: string;
}

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface Stand {
  /** Two tenants, so that the data of one can be searched for in the other's rows. */
  readonly tenants: readonly [Tenant, Tenant];
  readonly pool: Pool;
  /** Path relative to each workspace. `exec` appends a line each time that an effect happens. */
  readonly witnessFile: string;
  /** The state folder of all parts. */
  readonly folder: string;
  readonly apiUrl: string;
  temporalAddress(): string;
  readonly postgres: Killable;
  readonly temporal: Killable;
  readonly api: Killable;
  /** All of them, `api` the first. */
  readonly apis: readonly Killable[];
  readonly workers: readonly Killable[];
  /** Present when the stand is lossy. */
  readonly proxies: readonly LossyProxy[];
  /** A worker of another checkout of this project, not started. */
  workerOf(root: string, name?: string): Killable;
  /** An API of another checkout, which listens elsewhere. */
  apiOf(root: string): Killable;
  client(): Promise<Client>;
  /** Returns undefined when there was no answer at all. */
  ask(tenant: Tenant, method: string, path: string, options?: AskOptions): Promise<Reply | undefined>;
  /** Sends it again with the same Idempotency-Key, to each API in turn, until it is accepted. */
  say(tenant: Tenant, session: string, id: string, body: Readonly<Record<string, unknown>>): Promise<string>;
  effects(): Promise<readonly string[]>;
  until<T>(what: string, probe: () => Promise<T | undefined>): Promise<T>;
  close(): Promise<void>;
}

export interface AskOptions {
  readonly body?: unknown;
  readonly idempotencyKey?: string;
  /** The index of an API process; the first by default. */
  readonly api?: number;
}

export interface StandOptions {
  readonly workers: number;
  /** Number of API processes; one by default. */
  readonly apis?: number;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly agents?: readonly AgentConfig[];
  /** Workers and API reach Postgres and Temporal through proxies that can lose replies. */
  readonly lossy?: boolean;
  /** Further settings of one worker, from 0. */
  readonly workerSettings?: (worker: number, folder: string) => Readonly<Record<string, string>>;
  /** Sites whose pages may use the API. */
  readonly corsOrigins?: readonly string[];
  /** Further text of `tempoclaw.yaml`. */
  readonly settings?: string;
  /** History shards of a production-like Temporal server; four by default. */
  readonly shards?: number;
  /** How wrong the clocks of workers and API are, in milliseconds (skewed-clock.ts). */
  readonly clocks?: { readonly workers: number; readonly api: number };
}

/** Does what the message says; commands run without approval. */
const DOING: AgentConfig = {
  key: 'main',
  type: 'open',
  model: 'rehearsal/follow',
  exec: { security: 'full', ask: 'off' },
  limits: { iterations: 500 },
};

export async function createStand(options: StandOptions): Promise<Stand> {
  const folder = await mkdtemp(join(tmpdir(), 'tempoclaw-faults-'));
  // As root, Postgres runs as another user and must be able to pass through.
  await chmod(folder, 0o711);
  await prepareFolder(folder, options);
  const services = await createServices(folder, options.shards);
  await services.postgres.start();
  await services.temporal.start().catch(async (error: unknown) => {
    await services.postgres.stop();
    throw error;
  });
  const databaseUrl = services.databaseUrl();
  await migrate(databaseUrl, FEATURES);
  const pool = createPool({
    url: databaseUrl,
    size: 10,
    applicationName: 'tempoclaw-witness',
    onIdleError: () => undefined,
  });
  const tenants = [await makeTenant(pool, 'red', options), await makeTenant(pool, 'blue', options)] as const;
  const proxies = options.lossy
    ? [
        await createLossyProxy(Number(new URL(databaseUrl).port)),
        await createLossyProxy(portOf(services.temporalAddress())),
      ]
    : [];
  const [database = databaseUrl, temporal = services.temporalAddress()] = proxies.map((proxy, n) =>
    n === 0 ? withPort(databaseUrl, proxy.port) : `127.0.0.1:${proxy.port}`,
  );
  const bouncer = process.env['TEST_PGBOUNCER'];
  const pooler = bouncer
    ? await startPgBouncer({ program: bouncer, databaseUrl: database, folder })
    : undefined;
  const programs = await createPrograms({ folder, database, pooler: pooler?.url, temporal, options });
  let connection: Connection | undefined;
  const close = async (): Promise<void> => {
    await connection?.close();
    await pool.end();
    for (const part of [...programs.workers, ...programs.apis, services.temporal, services.postgres])
      await part.stop();
    await pooler?.child.stop();
    for (const proxy of proxies) await proxy.close();
    await rm(folder, { recursive: true, force: true });
  };
  // The first API takes the namespace, without which no worker starts.
  for (const parts of [programs.apis, programs.workers]) {
    const starts = await Promise.allSettled(parts.map((part) => part.start()));
    const failed = starts.find((start) => start.status === 'rejected');
    if (!failed) continue;
    await close();
    throw failed.reason;
  }
  // A command writes only in its own workspace (SH-7), so each workspace has a file of this name.
  const witnessFile = 'witness';

  const ask: Stand['ask'] = (tenant, method, path, options = {}) =>
    request(programs.apiUrls[options.api ?? 0] ?? programs.apiUrl, tenant, method, path, options);
  return {
    tenants,
    pool,
    witnessFile,
    folder,
    ...services,
    ...programs,
    proxies,
    async client() {
      connection ??= await Connection.connect({ address: services.temporalAddress() });
      return new Client({ connection });
    },
    ask,
    say: (tenant, session, id, body) => {
      let attempt = 0;
      return until(`message ${id} being accepted`, async () => {
        const reply = await ask(tenant, 'POST', `/v1/sessions/${session}/messages`, {
          body,
          idempotencyKey: id,
          api: attempt % programs.apis.length,
        });
        attempt += 1;
        if (reply?.status === 200 || reply?.status === 202) return String(reply.body['turn_id']);
        const mayComeBack = !reply || reply.status >= 500 || reply.status === 409 || reply.status === 429;
        if (!mayComeBack) throw new Error(`message ${id}: ${reply.status} ${JSON.stringify(reply.body)}`);
        return undefined;
      });
    },
    async effects() {
      const workspaces = join(folder, 'workspaces');
      const paths = await readdir(workspaces, { recursive: true }).catch(() => []);
      const files = paths.filter((path) => basename(path) === witnessFile);
      const texts = await Promise.all(files.map((path) => readFile(join(workspaces, path), 'utf8')));
      return texts
        .join('')
        .split('\n')
        .filter((line) => line !== '');
    },
    until,
    close,
  };
}

async function until<T>(what: string, probe: () => Promise<T | undefined>): Promise<T> {
  for (const deadline = Date.now() + PATIENCE_MS; ; ) {
    const value = await probe();
    if (value !== undefined) return value;
    if (Date.now() > deadline) throw new Error(`${what} did not come about`);
    await sleep(50);
  }
}

/** Copies our scripts, and the bundle that the test run has already built. */
async function prepareFolder(
  folder: string,
  { scripts = {}, settings = '', corsOrigins = [] }: StandOptions,
): Promise<void> {
  await mkdir(join(folder, 'rehearsal'));
  await mkdir(join(folder, 'bundles'));
  for (const [name, text] of Object.entries(scripts))
    await writeFile(join(folder, 'rehearsal', `${name}.yaml`), text);
  await writeFile(
    join(folder, 'tempoclaw.yaml'),
    `api: ${JSON.stringify({ rateLimitPerMinute: 0, corsOrigins })}\n${settings}`,
  );
  const cache = join(userCacheDir(), 'test-bundles');
  const { buildId } = await loadWorkflowBundle(cache, FEATURES);
  const file = `workflows-${buildId}.js`;
  await copyFile(join(cache, file), join(folder, 'bundles', file));
}

async function createServices(folder: string, shards: number | undefined) {
  const env = childEnvironment({});
  const cacheDir = userCacheDir();
  const programs = process.env['TEST_TEMPORAL_SERVER'];
  // The port of a production server must be a low one.
  const databasePort = await nextFreePort(0);
  const temporalPort = await nextFreePort(programs ? randomInt(12_000, 28_000) : 0);
  let databaseUrl = '';
  const postgres = createKillable(async () => {
    const running = await startPostgres({
      ...OWN_POSTGRES,
      stateDir: folder,
      cacheDir,
      env,
      port: databasePort,
    });
    databaseUrl = running.url;
    return sameport(running.child, running.port === databasePort);
  });
  const temporal = createKillable(async () => {
    if (programs)
      return startProductionTemporal({
        programs,
        stateDir: folder,
        env,
        databaseUrl,
        port: temporalPort,
        ...(shards !== undefined && { shards }),
      });
    const { path: binary } = await obtainTemporalBinary({ cacheDir, env, folders: commandFolders() });
    const options = {
      ...OWN_TEMPORAL,
      binary,
      stateDir: folder,
      env,
      namespace: 'default',
      ui: false,
    } as const;
    const running = await startTemporalServer({ ...options, port: temporalPort, uiPort: 0 });
    return sameport(running.child, running.address.endsWith(`:${temporalPort}`));
  });
  return {
    postgres,
    temporal,
    databaseUrl: () => databaseUrl,
    temporalAddress: () => `127.0.0.1:${temporalPort}`,
  };
}

/** The others know only the first address. */
async function sameport(child: Child, isSame: boolean): Promise<Child> {
  if (isSame) return child;
  await child.stop();
  throw new Error('the port is still held');
}

function portOf(address: string): number {
  return Number(address.slice(address.lastIndexOf(':') + 1));
}

function withPort(url: string, port: number): string {
  const changed = new URL(url);
  changed.port = String(port);
  return changed.href;
}

interface Surroundings {
  readonly folder: string;
  readonly database: string;
  readonly pooler: string | undefined;
  readonly temporal: string;
  readonly options: StandOptions;
}

/** The variables that make a process's clock wrong. */
function clockEnvironment(offset: number | undefined): Record<string, string> {
  if (offset === undefined) return {};
  const preload = new URL('./skewed-clock.ts', import.meta.url).href;
  return { NODE_OPTIONS: `--import=${preload}`, TEST_CLOCK_OFFSET_MS: String(offset) };
}

async function createPrograms({ folder, database, pooler, temporal, options }: Surroundings) {
  const ports = await Promise.all(Array.from({ length: options.apis ?? 1 }, () => nextFreePort(0)));
  const env = childEnvironment({
    TEMPOCLAW_STATE_DIR: folder,
    TEMPOCLAW_CONFIG: join(folder, 'tempoclaw.yaml'),
    TEMPOCLAW_LOG_LEVEL: 'warn',
    TEMPOCLAW_SANDBOX: 'off',
    // Tests may decide as any Temporal client does.
    TEMPOCLAW_DECISION_TOKEN_REQUIRED: 'false',
    ...engineVariables(),
    TEMPORAL_ADDRESS: temporal,
    DATABASE_URL: database,
    TEMPOCLAW_DATABASE_POOLER_URL: pooler,
  });
  interface More {
    readonly offset?: number | undefined;
    readonly root?: string;
    readonly port?: number;
    readonly more?: Readonly<Record<string, string>> | undefined;
  }
  const program = (
    name: string,
    main: string,
    { offset, root = ROOT, port = 0, more }: More = {},
  ): Killable =>
    createKillable(async () => {
      const { child } = await startNodeProgram({
        name,
        main: join(root, main),
        env: { ...env, TEMPOCLAW_PORT: String(port), ...clockEnvironment(offset), ...more },
        logFile: join(folder, 'logs', `${name}.log`),
        stopGraceMs: 15_000,
      });
      return child;
    });
  const [apis, apiUrls] = [
    ports.map((port, n) => program(`api-${n}`, 'api/main.ts', { port, offset: options.clocks?.api })),
    ports.map((port) => `http://127.0.0.1:${port}`),
  ] as const;
  return {
    apis,
    apiUrls,
    api: apis[0] as Killable,
    apiUrl: apiUrls[0] as string,
    workers: Array.from({ length: options.workers }, (_, n) =>
      program(`worker-${n}`, 'workers/main.ts', {
        offset: options.clocks?.workers,
        more: options.workerSettings?.(n, folder),
      }),
    ),
    workerOf: (root: string, name = 'worker-of-another-build') => program(name, 'workers/main.ts', { root }),
    apiOf: (root: string) => program('api-of-another-build', 'api/main.ts', { root }),
  };
}

async function makeTenant(pool: Pool, id: string, options: StandOptions): Promise<Tenant> {
  const key = makeSecret();
  await insertTenant(pool, id, id);
  await insertApiKey(forTenant(pool, id), {
    id: makeKeyId(),
    name: 'test',
    user: null,
    hash: hashSecret(key),
    scopes: ['admin'],
    expiresAt: null,
  });
  for (const agent of [DOING, ...(options.agents ?? [])])
    await insertAgent(forTenant(pool, id), agent, 'test');
  return { id, key };
}

async function request(
  url: string,
  tenant: Tenant,
  method: string,
  path: string,
  { body, idempotencyKey }: AskOptions,
): Promise<Reply | undefined> {
  try {
    const response = await fetch(url + path, {
      method,
      signal: AbortSignal.timeout(30_000),
      headers: {
        authorization: `Bearer ${tenant.key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const parsed: unknown = text.startsWith('{') ? JSON.parse(text) : { text };
    return { status: response.status, headers: response.headers, body: parsed as Reply['body'] };
  } catch {
    // Refused, reset or cut off are all the same for a client.
    return undefined;
  }
}
