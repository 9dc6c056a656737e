/**
 * The other sides. Each is a folder of `peers/` with a `package.json` of exact versions and a program `run.ts`. They are
 * installed once for each `package.json`, into a cache, and are never packages of ours.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, symlink } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { z } from 'zod';
import { childEnvironment, userCacheDir } from '#config';
import { type Child, nextFreePort, startChild, waitUntil } from '@tempoclaw/dev-services/processes';
import type { PeerSettings } from './peers/served.ts';
import type { Victim } from './points.ts';
import { createDatabase, type Service, startDatabase, startRestate, startTemporal } from './services.ts';
import type { RunningSide, Side, StartOptions } from './side.ts';

const FOLDER = join(import.meta.dirname, 'peers');
const INSTALL_MS = 15 * 60_000;
const READY_MS = 120_000;
/** A request that meets a program at its start, or without its database, is sent again for so long. */
const ACCEPT_MS = 120_000;
const FIRST_PORT = 21_300;

const manifest = z.object({
  dependencies: z.record(z.string(), z.string()),
  league: z.object({
    title: z.string(),
    page: z.url(),
    /** Servers that it needs; the last one is killed as its engine if it is not the database. */
    needs: z.array(z.enum(['postgres', 'temporal', 'restate'])),
    /** Packages whose versions are shown. */
    shows: z.array(z.string()),
    resume: z.enum(['itself', 'caller', 'traffic']).default('itself'),
    /** Another peer, whose program it has. */
    source: z.string().optional(),
    /** Arguments of Node that build it, in the folder of a run. */
    build: z.array(z.string()).optional(),
    /** Its program. */
    run: z.string().default('run.ts'),
  }),
});

/** The sides of `peers/`, in no order. */
export async function readPeers(): Promise<readonly Side[]> {
  const entries = await readdir(FOLDER, { withFileTypes: true });
  return Promise.all(entries.filter((entry) => entry.isDirectory()).map(({ name }) => readPeer(name)));
}

async function readPeer(id: string): Promise<Side> {
  const { league, dependencies } = await readManifest(id);
  const victims: Victim[] = ['worker'];
  if (league.needs.includes('postgres')) victims.push('database');
  if (league.needs.some((need) => need !== 'postgres')) victims.push('engine');
  return {
    id,
    title: league.title,
    page: league.page,
    versions: league.shows.map((name) => `${name} ${dependencies[name]}`).join(', '),
    resume: league.resume,
    victims,
    start: (options) => startPeer(id, league, options),
  };
}

async function readManifest(id: string): Promise<z.infer<typeof manifest>> {
  return manifest.parse(JSON.parse(await readFile(join(FOLDER, id, 'package.json'), 'utf8')));
}

/** The folder of an installed peer, with its program and no state. Safe to repeat, and to run twice at the same time. */
async function install(id: string, log: (text: string) => void): Promise<string> {
  const source = join(FOLDER, id);
  const { dependencies } = await readManifest(id);
  const digest = createHash('sha256').update(JSON.stringify(dependencies)).digest('hex');
  const cache = join(userCacheDir(), 'league');
  const folder = join(cache, `${id}-${digest.slice(0, 12)}`);
  if (!existsSync(folder)) {
    log(`installing ${id}`);
    await mkdir(cache, { recursive: true });
    const part = await mkdtemp(`${folder}.`);
    try {
      await cp(join(source, 'package.json'), join(part, 'package.json'));
      const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
      await promisify(execFile)('npm', [...args, '--prefix', part], {
        cwd: part,
        env: environment(),
        timeout: INSTALL_MS,
      });
      await rename(part, folder);
    } catch (error) {
      // Another program may have installed it in the meantime.
      if (!existsSync(folder)) throw error;
    } finally {
      await rm(part, { recursive: true, force: true });
    }
  }
  return folder;
}

/** The Node that runs this also runs npm and the peers. */
function environment(more: Readonly<Record<string, string>> = {}): Record<string, string> {
  const env = childEnvironment(more);
  return { ...env, PATH: `${dirname(process.execPath)}${delimiter}${env['PATH'] ?? ''}` };
}

async function startPeer(
  id: string,
  { needs, build, run, source = id }: z.infer<typeof manifest>['league'],
  { worldUrl, stateDir, log }: StartOptions,
): Promise<RunningSide> {
  const installed = await install(id, log);
  // The program is where its packages are found, in a folder of this run.
  const folder = join(stateDir, 'program', id);
  await mkdir(folder, { recursive: true });
  await symlink(join(installed, 'node_modules'), join(folder, 'node_modules'));
  await cp(join(FOLDER, source), folder, { recursive: true });
  await cp(join(FOLDER, 'served.ts'), join(folder, '..', 'served.ts'));
  const database = needs.includes('postgres') ? await startDatabase(stateDir) : undefined;
  const temporal = needs.includes('temporal') ? await startTemporal(stateDir) : undefined;
  const restate = needs.includes('restate')
    ? await startRestate(stateDir, restateProgram(installed))
    : undefined;
  const port = await nextFreePort(FIRST_PORT);
  const settings: PeerSettings = {
    port,
    worldUrl,
    stateDir,
    databaseUrl: database ? await createDatabase(database.address, 'peer') : '',
    temporalAddress: temporal?.address ?? '',
    restateUrl: restate ? `http://${restate.address}` : '',
    restateAdminUrl: restate?.adminUrl ?? '',
  };
  const env = environment({
    PORT: String(port),
    HOST: '127.0.0.1',
    LEAGUE: JSON.stringify(settings),
    OPENAI_API_KEY: 'none',
    DO_NOT_TRACK: '1',
  });
  if (build) await promisify(execFile)(process.execPath, build, { cwd: folder, env, timeout: INSTALL_MS });
  const url = `http://127.0.0.1:${port}`;
  let child = await startProgram(id, join(folder, run), stateDir, env, url);
  const services: Partial<Record<'database' | 'engine', Service>> = {};
  const engine = temporal ?? restate;
  if (database) services.database = database;
  if (engine) services.engine = engine;
  let ended = watch(child);
  return {
    services,
    begin: (turn, text) => begin(url, turn, text),
    killWorker: () => child.kill(),
    async restartWorker() {
      await child.exited;
      child = await startProgram(id, join(folder, run), stateDir, env, url);
      ended = watch(child);
    },
    hasEnded: () => ended(),
    pids: () => [child.pid],
    async stop() {
      await child.stop();
      for (const service of [engine, database]) await service?.stop();
    },
  };
}

function watch(child: Child): () => boolean {
  let isEnded = false;
  void child.exited.then(() => (isEnded = true));
  return () => isEnded;
}

async function startProgram(
  id: string,
  program: string,
  stateDir: string,
  env: Readonly<Record<string, string>>,
  url: string,
): Promise<Child> {
  const child = await startChild({
    name: id,
    command: process.execPath,
    args: ['--disable-warning=ExperimentalWarning', program],
    cwd: join(stateDir, 'program', id),
    env,
    logFile: join(stateDir, 'logs', `${id}.log`),
  });
  const answers = (): Promise<true | undefined> =>
    fetch(`${url}/ready`).then(
      ({ ok }) => (ok ? true : undefined),
      () => undefined,
    );
  try {
    await waitUntil(child, answers, READY_MS);
  } catch (error) {
    await child.stop();
    throw error;
  }
  return child;
}

async function begin(url: string, turn: string, text: string): Promise<void> {
  const body = JSON.stringify({ id: turn, text });
  for (const until = performance.now() + ACCEPT_MS; ; await sleep(100)) {
    const problem = await fetch(`${url}/turns`, { method: 'POST', body }).then(
      async (response) => (response.ok ? undefined : `${response.status} ${await response.text()}`),
      String,
    );
    if (problem === undefined) return;
    if (performance.now() > until) throw new Error(`the turn ${turn} was not accepted: ${problem}`);
  }
}

function restateProgram(installed: string): string {
  const platform = `${process.platform}-${process.arch}`;
  return join(
    installed,
    'node_modules',
    '@restatedev',
    `restate-server-${platform}`,
    'bin',
    'restate-server',
  );
}
