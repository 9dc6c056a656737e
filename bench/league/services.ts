/** The servers of one side, in a folder of its own. Each can be killed, and starts again with its data and its address. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { childEnvironment, commandFolders, userCacheDir } from '#config';
import { OWN_POSTGRES, OWN_TEMPORAL } from '#features/local/own-servers.ts';
import { obtainTemporalBinary, startPostgres, startTemporalServer } from '@tempoclaw/dev-services';
import { nextFreePort, portOf, startChild, waitUntil } from '@tempoclaw/dev-services/processes';

export interface Service {
  /** Where clients reach it: a URL of a database, or `host:port`. */
  readonly address: string;
  readonly pid: () => number;
  /** Kills it with SIGKILL, and starts it again after a second. Resolves when it answers. */
  killAndRestart(): Promise<void>;
  stop(): Promise<void>;
}

/** Milliseconds for which a killed server is gone. */
const DOWN_MS = 1_000;

interface Running {
  readonly pid: number;
  readonly child: { kill(): void; readonly exited: Promise<unknown> };
  stop(): Promise<void>;
}

async function serviceOf<One extends Running>(
  start: (before: One | undefined) => Promise<One>,
  addressOf: (one: One) => string,
): Promise<Service> {
  let running = await start(undefined);
  const address = addressOf(running);
  return {
    address,
    pid: () => running.pid,
    async killAndRestart() {
      running.child.kill();
      await running.child.exited;
      await sleep(DOWN_MS);
      running = await start(running);
    },
    stop: () => running.stop(),
  };
}

/** Durable, as it is in production. */
export function startDatabase(stateDir: string): Promise<Service> {
  const options = { ...OWN_POSTGRES, stateDir, cacheDir: userCacheDir(), env: childEnvironment({}) };
  return serviceOf(
    (before: Awaited<ReturnType<typeof startPostgres>> | undefined) =>
      startPostgres({ ...options, port: before ? portOf(new URL(before.url).host) : 0 }),
    ({ url }) => url,
  );
}

/** Creates a database beside the one of `url`, and returns its URL. */
export async function createDatabase(url: string, name: string): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(`create database ${name}`);
  } finally {
    await client.end();
  }
  const made = new URL(url);
  made.pathname = `/${name}`;
  return made.href;
}

/** The dev server that TempoClaw starts, with the same settings for every side. */
export async function startTemporal(stateDir: string): Promise<Service> {
  const env = childEnvironment({});
  const { path } = await obtainTemporalBinary({ cacheDir: userCacheDir(), env, folders: commandFolders() });
  return serviceOf(
    (before: Awaited<ReturnType<typeof startTemporalServer>> | undefined) =>
      startTemporalServer({
        ...OWN_TEMPORAL,
        binary: path,
        stateDir,
        env,
        namespace: 'default',
        ports: before?.ports,
        port: 0,
        uiPort: 0,
        ui: false,
      }),
    ({ address }) => address,
  );
}

/** Addresses of a Restate server. `Service.address` is the one that takes requests. */
export interface RestateService extends Service {
  readonly adminUrl: string;
}

/** `binary` is the program of the package for this platform. */
export async function startRestate(stateDir: string, binary: string): Promise<RestateService> {
  // Ports from different beginnings, so that the three are not the same.
  const [ingress, admin, node] = [
    await nextFreePort(18_080),
    await nextFreePort(19_070),
    await nextFreePort(15_122),
  ];
  const adminUrl = `http://127.0.0.1:${admin}`;
  const env = childEnvironment({
    RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ingress}`,
    RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${admin}`,
    RESTATE_BIND_ADDRESS: `127.0.0.1:${node}`,
    RESTATE_ADVERTISED_ADDRESS: `http://127.0.0.1:${node}`,
    RESTATE_NODE_NAME: 'league',
    DO_NOT_TRACK: '1',
  });
  const start = async (): Promise<Running> => {
    const child = await startChild({
      name: 'Restate',
      command: binary,
      args: ['--base-dir', join(stateDir, 'restate')],
      env,
      logFile: join(stateDir, 'logs', 'restate.log'),
    });
    const answers = (): Promise<true | undefined> =>
      fetch(`${adminUrl}/health`).then(
        ({ ok }) => (ok ? true : undefined),
        () => undefined,
      );
    await waitUntil(child, answers, 60_000);
    return { pid: child.pid, child, stop: () => child.stop() };
  };
  const service = await serviceOf(start, () => `127.0.0.1:${ingress}`);
  return { ...service, adminUrl };
}
