/**
 * A production-like Temporal server: built from its Go module, all four services, its state in Postgres. It is for runs
 * that show that nothing depends on the dev server alone (docs/operations.md). TEST_TEMPORAL_SERVER names the folder of
 * its programs.
 */
import { execFile } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Connection } from '@temporalio/client';
import { Client as Postgres } from 'pg';
import { stringify } from 'yaml';
import {
  type Child,
  isPortOpen,
  nextFreePort,
  startChild,
  waitUntil,
} from '@tempoclaw/dev-services/processes';
import { SEARCH_ATTRIBUTES } from '#domain/search-attributes.ts';
import { registerSearchAttributes } from '@tempoclaw/dev-services';

const run = promisify(execFile);
const READY_MS = 90_000;
/** Each of Temporal's two stores, with the schema that its tool contains. */
const STORES = { temporal: 'postgresql/v12/temporal', temporal_visibility: 'postgresql/v12/visibility' };
/** Its schema stores ports as smallint, so those that the system assigns are too high for it. */
const [FIRST_PORT, LAST_PORT] = [12_000, 28_000];
const SERVICES = ['frontend', 'matching', 'history', 'worker'] as const;

/** The shipped dynamic settings. */
const DYNAMIC_CONFIG = fileURLToPath(new URL('../../config/temporal-server.yaml', import.meta.url));

export interface ProductionTemporalOptions {
  /** Contains `temporal-server` and `temporal-sql-tool`. */
  readonly programs: string;
  readonly stateDir: string;
  readonly env: Readonly<Record<string, string>>;
  /** Any database of the Postgres that stores its state; its two stores are created there when they are missing. */
  readonly databaseUrl: string;
  readonly port: number;
  /** Where it serves its metrics in Prometheus' format. */
  readonly metricsPort?: number;
  /** History shards of a new store (default 4); a store keeps its number. */
  readonly shards?: number;
}

/** Resolves when its namespace `default` answers. Safe to run again after a kill: data and addresses stay. */
export async function startProductionTemporal(options: ProductionTemporalOptions): Promise<Child> {
  const { programs, stateDir, env, port } = options;
  await makeStores(options);
  const folder = join(stateDir, 'temporal-server');
  // All its ports stay, as a server's do. With others, the ring would wait for the dead ones (docs/operations.md).
  if (!existsSync(join(folder, 'config', 'test.yaml'))) await writeConfig(folder, options);
  const child = await startChild({
    name: 'Temporal',
    command: join(programs, 'temporal-server'),
    args: ['--root', folder, '--config', 'config', '--env', 'test', '--allow-no-auth', 'start'],
    env,
    logFile: join(stateDir, 'logs', 'temporal.log'),
    stopGraceMs: 15_000,
  });
  try {
    await waitUntil(child, () => isServing(`127.0.0.1:${port}`), READY_MS);
  } catch (error) {
    await child.stop();
    throw error;
  }
  return child;
}

async function makeStores({ programs, databaseUrl, env }: ProductionTemporalOptions): Promise<void> {
  const { hostname, port, username, password } = new URL(databaseUrl);
  for (const [database, schema] of Object.entries(STORES)) {
    if (await isThere(databaseUrl, database)) continue;
    const tool = (...args: string[]) =>
      run(
        join(programs, 'temporal-sql-tool'),
        ['--plugin', 'postgres12', '--ep', hostname, '-p', port, '-u', username, '--db', database, ...args],
        // It is not among the arguments, which every process may read.
        { env: { ...env, SQL_PASSWORD: password } },
      );
    await tool('create-database');
    await tool('setup-schema', '-v', '0.0');
    await tool('update-schema', '--schema-name', schema);
  }
}

async function isThere(databaseUrl: string, database: string): Promise<boolean> {
  const client = new Postgres({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [database]);
    return rowCount === 1;
  } finally {
    await client.end();
  }
}

async function writeConfig(folder: string, options: ProductionTemporalOptions): Promise<void> {
  const { hostname, port, username, password } = new URL(options.databaseUrl);
  const store = (databaseName: string, maxConns: number) => ({
    sql: {
      pluginName: 'postgres12',
      databaseName,
      connectAddr: `${hostname}:${port}`,
      connectProtocol: 'tcp',
      user: username,
      password,
      maxConns,
      maxIdleConns: maxConns,
    },
  });
  const used = new Set([options.port]);
  const freePort = async (): Promise<number> => {
    const free = await nextFreePort(randomInt(FIRST_PORT, LAST_PORT), '127.0.0.1', used);
    used.add(free);
    return free;
  };
  const services: [string, unknown][] = [];
  for (const name of SERVICES) {
    const isFrontend = name === 'frontend';
    const rpc = {
      grpcPort: isFrontend ? options.port : await freePort(),
      membershipPort: await freePort(),
      // The server itself calls Nexus endpoints here.
      ...(isFrontend && { httpPort: await freePort() }),
      bindOnLocalHost: true,
    };
    services.push([name, { rpc }]);
  }
  const config = {
    log: { stdout: true, level: 'warn' },
    persistence: {
      defaultStore: 'temporal',
      visibilityStore: 'temporal_visibility',
      numHistoryShards: options.shards ?? 4,
      datastores: { temporal: store('temporal', 20), temporal_visibility: store('temporal_visibility', 10) },
    },
    global: {
      membership: { maxJoinDuration: '30s', broadcastAddress: '127.0.0.1' },
      ...(options.metricsPort !== undefined && {
        metrics: {
          prometheus: { framework: 'opentelemetry', listenAddress: `127.0.0.1:${options.metricsPort}` },
        },
      }),
    },
    services: Object.fromEntries(services),
    clusterMetadata: {
      enableGlobalNamespace: false,
      failoverVersionIncrement: 10,
      masterClusterName: 'active',
      currentClusterName: 'active',
      clusterInformation: {
        active: {
          enabled: true,
          initialFailoverVersion: 1,
          rpcName: 'frontend',
          rpcAddress: `127.0.0.1:${options.port}`,
        },
      },
    },
    dcRedirectionPolicy: { policy: 'noop' },
    dynamicConfigClient: { filepath: DYNAMIC_CONFIG, pollInterval: '60s' },
  };
  await mkdir(join(folder, 'config'), { recursive: true, mode: 0o700 });
  await writeFile(join(folder, 'config', 'test.yaml'), stringify(config), { mode: 0o600 });
}

async function isServing(address: string): Promise<true | undefined> {
  if (!(await isPortOpen(address))) return undefined;
  let connection: Connection | undefined;
  try {
    connection = await Connection.connect({ address, connectTimeout: '2 seconds' });
    const namespace = 'default';
    const { namespaces } = await connection.workflowService.listNamespaces({});
    const isKnown = namespaces?.some(({ namespaceInfo }) => namespaceInfo?.name === namespace);
    if (!isKnown)
      await connection.workflowService.registerNamespace({
        namespace,
        workflowExecutionRetentionPeriod: { seconds: 86_400 as never },
      });
    await connection.workflowService.describeNamespace({ namespace });
    await registerSearchAttributes(connection, namespace, SEARCH_ATTRIBUTES);
    // All services know a namespace only some seconds after it is created; this answers only then.
    await connection.workflowService.listWorkflowExecutions({ namespace, query: `TempoclawTenant = 'none'` });
    return true;
  } catch {
    // Its services are still finding each other, or the namespace does not exist yet; the wait around this has the time
    // limit.
    return undefined;
  } finally {
    await connection?.close();
  }
}
