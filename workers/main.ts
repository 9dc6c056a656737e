/** The worker's process: it reads settings, runs one worker and shuts down in order. Any number may run at once. */
import { loadRowParts } from '#store/row-parts.ts';
import '../config/prepare-variables.ts';
import { join } from 'node:path';
import type { DataConverter } from '@temporalio/common';
import { NativeConnection, Runtime } from '@temporalio/worker';
import { pino } from 'pino';
import { type Config, ConfigError, deploymentValues, loadConfig, temporalConnection } from '#config';
import { createLiveSettings } from '#config/live-settings.ts';
import { createLogStream, openLogOutput } from '#store/secrets/log-stream.ts';
import { hostWall } from '#activities/process/host-wall.ts';
import { OWN_NAME } from '#activities/process/own-names.ts';
import { openSecrets } from '#store/secrets/open-secrets.ts';
import { loadCatalog } from '#policy/catalog.ts';
import { FEATURES } from '#features';
import { createAgentCatalogs, loadToolSources } from '#policy/agent-catalogs.ts';
import { createModels } from '#activities/model/model-catalog.ts';
import { createEventNotifier } from '#store/event-notifier.ts';
import { readInstallation } from '#store/installation-store.ts';
import { missingMigrations, schemaProblem } from '#store/postgres/migrate.ts';
import { createPool, type Pool } from '#store/postgres/pool.ts';
import { reapOrphans } from '@tempoclaw/sandbox';
import type { Ready } from '#config/supervisor.ts';
import { notifySupervisor, startBeat } from '@tempoclaw/dev-services/supervised';
import { connectTemporal } from '#temporal/client.ts';
import { openGateway } from '#temporal/gateway.ts';
import { keepNamespace } from '#temporal/installation.ts';
import { dataConverterOf } from '#temporal/payload-codec.ts';
import { loadWorkflowBundle } from './bundle.ts';
import { createMachine } from './create-machine.ts';
import { createWorker } from './create-worker.ts';
import { RUNS_AT_PLACE, sandboxOf } from '#domain/sandbox.ts';

async function main(): Promise<void> {
  const live = createLiveSettings(loadConfig());
  const { config } = live;
  const logs = createLogStream(openLogOutput());
  const log = pino({ level: config.log.level, base: { process: 'worker', pid: process.pid } }, logs);
  installRuntime(log, config.worker.metricsAddress);
  if (!config.database.url || !config.temporal.address)
    throw new ConfigError([
      'a worker needs DATABASE_URL and TEMPORAL_ADDRESS; `tempoclaw up` starts both and gives them',
    ]);

  await requireSchema(config.database.url);
  const wall = hostWall(config);
  notifySupervisor({ type: 'progress', step: 'bundle' });
  const { bundle, buildId } = await loadWorkflowBundle(join(config.stateDir, 'bundles'), FEATURES);
  const pool = createPool({
    url: config.database.url,
    poolerUrl: config.database.poolerUrl,
    size: config.database.poolSize,
    applicationName: 'tempoclaw-worker',
    onIdleError: (error) => log.warn({ err: error }, 'a database connection broke'),
  });
  const notifier = createEventNotifier(pool, (error) =>
    log.warn({ err: error }, 'readers were not told of events'),
  );
  const rows = await loadRowParts(FEATURES);
  const secrets = await openSecrets({
    rows,
    settings: config,
    databaseUrl: config.database.url,
    pool,
    deploymentValues: deploymentValues(config),
    onError: (error) => log.warn({ err: error }, 'changes of secrets are not heard of at the moment'),
  });
  logs.hide(secrets.vault.scrubberOfAll);
  const catalog = await loadCatalog(FEATURES);
  const dataConverter = dataConverterOf(config.encryption);
  const reaped = await reapOrphans(OWN_NAME);
  if (reaped > 0) log.info({ reaped }, 'ended commands whose worker was lost');
  const { connection, belongs, temporal } = await reachTemporal(config, pool, dataConverter);
  const { host, why } = await wall;
  if (why === undefined) log.info({ wall: host.wall }, 'commands on this machine run behind a wall');
  else log.warn({ wall: host.wall, why }, 'the wall around commands on this machine is not whole');
  const machine = await createMachine(config, pool, secrets.vault, host, FEATURES, (error) =>
    log.warn(
      { err: error },
      'MCP servers could not be looked after, or what was asked of the outside or changed in a workspace not be kept',
    ),
  );
  // Removes what earlier workers left; from then on the sweep does this.
  if (config.sandbox.mode !== 'off') void machine.boxes.prune();
  const worker = await createWorker({
    log,
    features: FEATURES,
    config,
    gateway: openGateway({ pool, temporal, changes: secrets.changes, settings: live, log }),
    connection,
    belongs,
    temporal,
    pool,
    notifier,
    catalog,
    catalogs: createAgentCatalogs({
      sources: await loadToolSources(FEATURES),
      pool,
      catalog,
      changes: secrets.changes,
      onError: (error) => log.warn({ err: error }, 'custom tools could not be read'),
    }),
    models: createModels(config.models, config.rehearsal, secrets.vault.resolveSetting),
    machine,
    changes: secrets.changes,
    rows,
    sealer: secrets.sealer,
    vault: secrets.vault,
    masterKeys: secrets.masterKeys,
    bundle,
    buildId,
    dataConverter,
  });
  const running = worker.run();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, worker.shutdown);
  await temporal.ensureSweep().catch((error: unknown) =>
    // Another worker's start creates it, or an operator with the permission.
    log.warn({ err: error }, 'the schedule of the sweep could not be made'),
  );
  const runs = RUNS_AT_PLACE[await machine.world.shell.placeOf(sandboxOf(config.sandbox, undefined))];
  log.info({ ready: true, runs, buildId, taskQueue: config.temporal.taskQueue }, 'worker is ready');
  notifySupervisor<Ready>({ type: 'ready', runs });
  startBeat();
  await running;
  await worker.close();
  const ended = await machine.world.processes.stopOwn();
  if (ended > 0) log.info({ ended }, 'ended background commands of this worker');
  await machine.workspaces.close();
  host.close();
  await notifier.close();
  await secrets.close();
  await temporal.close();
  await connection.close();
  await pool.end();
}

/** A worker migrates nothing, so it uses only a database that is ready for it. */
async function requireSchema(databaseUrl: string): Promise<void> {
  const problem = await schemaProblem(databaseUrl, FEATURES);
  if (problem !== undefined) throw new Error(problem);
  const missing = await missingMigrations(databaseUrl, FEATURES);
  if (missing.length > 0)
    throw new Error(
      `The database lacks migrations of this version (${missing.slice(0, 5).join(', ')}): run \`tempoclaw up --setup-only\` ` +
        'or start the API of this version first.',
    );
}

/** Both connections to Temporal, in a namespace of this installation. Throws ForeignNamespace when it is another's. */
async function reachTemporal(config: Config, pool: Pool, dataConverter: DataConverter | undefined) {
  const { namespace, taskQueue, lingerSeconds } = config.temporal;
  const place = temporalConnection(config);
  const installation = await readInstallation(pool);
  const connection = await NativeConnection.connect(place);
  const belongs = keepNamespace({ service: connection.workflowService, namespace }, installation);
  await belongs();
  const temporal = connectTemporal({
    ...place,
    namespace,
    taskQueue,
    installation,
    lingerSeconds,
    dataConverter,
  });
  return { connection, belongs, temporal };
}

const PINO_LEVEL = { TRACE: 'trace', DEBUG: 'debug', INFO: 'info', WARN: 'warn', ERROR: 'error' } as const;

/** Its own reaction to signals would end both workers of this process at the same time. */
function installRuntime(log: pino.Logger, metricsAddress: string | undefined): void {
  Runtime.install({
    telemetryOptions:
      metricsAddress === undefined ? {} : { metrics: { prometheus: { bindAddress: metricsAddress } } },
    shutdownSignals: [],
    logger: {
      log: (level, message, meta) => log[PINO_LEVEL[level]](meta ?? {}, message),
      trace: (message, meta) => log.trace(meta ?? {}, message),
      debug: (message, meta) => log.debug(meta ?? {}, message),
      info: (message, meta) => log.info(meta ?? {}, message),
      warn: (message, meta) => log.warn(meta ?? {}, message),
      error: (message, meta) => log.error(meta ?? {}, message),
    },
  });
}

await main();
