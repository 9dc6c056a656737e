/** The API's process: settings, migrations, the first key, a socket, and an orderly end. Any number may run at once. */
import '../config/prepare-variables.ts';
import { pino } from 'pino';
import { ConfigError, loadConfig, preflight } from '#config';
import { createLiveSettings } from '#config/live-settings.ts';
import { createLogStream, openLogOutput } from '#store/secrets/log-stream.ts';
import { ForeignNamespace } from '#domain/installation.ts';
import { FEATURES } from '#features';
import { migrate } from '#store/postgres/migrate.ts';
import { type Ready, socketOfSupervisor } from '#config/supervisor.ts';
import { notifySupervisor, startBeat } from '@tempoclaw/dev-services/supervised';
import { createDeps } from './create-deps.ts';
import { prepareFirstStart } from './server/first-start.ts';
import { listen } from './server/listen.ts';
import { createServer } from './server/server.ts';

/** Running requests have this long to end; then their connections are closed. */
const DRAIN_MS = 10_000;
/** How long to wait for Temporal, which may be away. */
const CLAIM_MS = 5_000;

async function main(): Promise<void> {
  const live = createLiveSettings(loadConfig());
  const { config } = live;
  const problems = preflight(config);
  if (problems.length > 0) throw new ConfigError(problems);
  if (!config.database.url || !config.temporal.address)
    throw new ConfigError([
      'the API needs DATABASE_URL and TEMPORAL_ADDRESS; `tempoclaw up` starts both and gives them',
    ]);
  const logs = createLogStream(openLogOutput());
  const log = pino({ level: config.log.level, base: { process: 'api', pid: process.pid } }, logs);

  notifySupervisor({ type: 'progress', step: 'migrations' });
  await migrate(config.database.url, FEATURES);
  const owned = await createDeps(live, config.database.url, log, logs);
  const { deps } = owned;
  await deps.temporal.claim(CLAIM_MS).catch((error: unknown) => {
    // A server that is away may come back later.
    if (error instanceof ForeignNamespace) throw error;
  });
  const keyFile = await prepareFirstStart(deps.pool, config.stateDir);
  await owned.start();
  if (keyFile !== undefined) log.info({ file: keyFile }, 'made the first admin key');

  const app = await createServer(deps);
  const { host, port } = config.api;
  const address = await listen(app, { host, port, socket: socketOfSupervisor() });
  let ending: Promise<void> | undefined;
  const end = async (signal: string): Promise<void> => {
    log.info({ signal }, 'ending: open requests are finished');
    const cut = setTimeout(() => app.server.closeAllConnections(), DRAIN_MS);
    await app.close();
    clearTimeout(cut);
    await owned.close();
    process.disconnect?.();
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.on(signal, () => {
      ending ??= end(signal).catch((error: unknown) => {
        log.error({ err: error }, 'the end was not orderly');
        process.exitCode = 1;
      });
    });

  log.info({ ready: true, address }, 'API is ready');
  notifySupervisor<Ready>({ type: 'ready', address });
  startBeat();
}

await main();
