/**
 * An embedded Postgres under the state folder. It reuses its data, survives a previous run that was killed (stale
 * postmaster.pid, backends still ending), and listens on the loopback interface only.
 */
import { randomBytes } from 'node:crypto';
import {
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import type { Child, Exit } from '../child.ts';
import { exitWords, startChild, waitUntil } from '../child.ts';
import { listeningPorts, nextFreePort, withPortsTaken } from '../ports.ts';
import type { PostgresBinaries, PostgresPrograms } from './postgres-binaries.ts';
import { findPostgresBinaries, mayReach, ROOT_DIR } from './postgres-binaries.ts';
import type { ProcessMark } from '../process-identity.ts';
import { commandLineOf, commandLines, endProcess, markProcess } from '../process-identity.ts';

/** Crash recovery of a busy database takes a while; a hang never ends. */
const READY_MS = 60_000;
const SESSIONS_END_MS = 20_000;
/**
 * Names a data folder elsewhere. Its random name ties the data to this state folder: deleting this file starts afresh.
 */
const POINTER = 'postgres-elsewhere';

export interface PostgresOptions extends PostgresPrograms {
  readonly stateDir: string;
  /** Names the database and its superuser: lower-case letters, digits and `_`; `postgres` by default. */
  readonly name?: string;
  /** First port tried; 0 for any. */
  readonly port: number;
  readonly env: Readonly<Record<string, string>>;
  /** False trades safety at power loss for speed: for throw-away test databases. */
  readonly durable?: boolean;
  readonly onProgress?: (detail: string) => void;
  /** Called when the files of a new database were made, before it first runs. */
  readonly onCreate?: () => Promise<void>;
  /** Gets the process before it is ready, so that it can be ended in the meantime. */
  readonly onSpawn?: (child: Child) => void;
}

export interface RunningPostgres {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  readonly child: Child;
  readonly dataDir: string;
  readonly exited: Promise<Exit>;
  stop(): Promise<void>;
}

/** Starts Postgres and makes the database. Throws, with the end of its log, when it does not come up. */
export async function startPostgres(options: PostgresOptions): Promise<RunningPostgres> {
  const progress = options.onProgress ?? (() => undefined);
  mkdirSync(options.stateDir, { recursive: true });
  const { name = 'postgres' } = options;
  if (!/^[a-z_][a-z0-9_]*$/.test(name)) throw new Error(`${name} cannot be the name of a database`);
  const binaries = findPostgresBinaries(options);
  const dataDir = chooseDataDir(options, binaries);
  const isNew = !existsSync(join(dataDir, 'PG_VERSION'));
  const password = readPassword(options.stateDir, isNew);
  if (isNew) {
    progress('making the database files');
    await initialise(dataDir, password, binaries, { ...options, name });
    await options.onCreate?.();
  }
  await endFormerServer(dataDir, progress);
  return withPortsTaken(() => serve({ ...options, name }, dataDir, password, binaries));
}

type NamedOptions = PostgresOptions & { readonly name: string };

async function serve(
  options: NamedOptions,
  dataDir: string,
  password: string,
  binaries: PostgresBinaries,
): Promise<RunningPostgres> {
  const port = await nextFreePort(options.port);
  const child = await startChild({
    name: 'Postgres',
    command: binaries.postgres,
    args: serverArguments(dataDir, port, options.durable ?? true),
    env: { ...options.env, LC_ALL: 'C' },
    cwd: dataDir,
    logFile: logFile(options.stateDir),
    user: binaries.user,
    // SIGINT is Postgres' fast shutdown: sessions are ended, data is flushed.
    stopSignal: 'SIGINT',
    stopGraceMs: 20_000,
  });
  options.onSpawn?.(child);
  const url = (database: string): string =>
    `postgres://${options.name}:${password}@127.0.0.1:${port}/${database}`;
  try {
    await waitUntil(
      child,
      () => tryCreateDatabase(url('postgres'), options.name, () => isOther(child, port)),
      READY_MS,
    );
  } catch (error) {
    await child.stop();
    throw error;
  }
  return {
    url: url(options.name),
    port,
    pid: child.pid,
    child,
    dataDir,
    exited: child.exited,
    stop: () => child.stop(),
  };
}

function serverArguments(dataDir: string, port: number, durable: boolean): string[] {
  const settings: Record<string, string> = {
    listen_addresses: '127.0.0.1',
    // There is no socket file: /tmp is shared, and a leftover one blocks the next start.
    unix_socket_directories: '',
    max_connections: '200',
    shared_buffers: '128MB',
    // The memory is in its own folder, because agents' commands share /dev/shm.
    dynamic_shared_memory_type: 'mmap',
    logging_collector: 'off',
    ...(!durable && { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }),
  };
  return [
    '-D',
    dataDir,
    '-p',
    String(port),
    ...Object.entries(settings).flatMap(([key, value]) => ['-c', `${key}=${value}`]),
  ];
}

/** Data lives in the state folder, or under /var/lib when we are root and the `postgres` user cannot enter it. */
function chooseDataDir(
  { stateDir, rootDir = ROOT_DIR }: PostgresOptions,
  { user }: PostgresBinaries,
): string {
  const usual = join(stateDir, 'postgres');
  if (user === undefined || mayReach(usual, user)) return usual;
  const pointer = join(stateDir, POINTER);
  if (!existsSync(pointer)) writeFileSync(pointer, join(rootDir, randomBytes(8).toString('hex'), 'postgres'));
  return readFileSync(pointer, 'utf8').trim();
}

/** Whether the state folder has a database, which a start would use. */
export function hasDatabase(stateDir: string): boolean {
  return existsSync(join(stateDir, 'postgres-password'));
}

/** Where the files of a state folder's database are, or would be: outside it if its user cannot reach the folder. */
export function databaseFolder(stateDir: string): string {
  const pointer = join(stateDir, POINTER);
  return existsSync(pointer) ? readFileSync(pointer, 'utf8').trim() : join(stateDir, 'postgres');
}

/** Ends what a killed run has left of a state folder's server, so that its files change no more. */
export async function endFormerDatabase(stateDir: string): Promise<void> {
  const folder = databaseFolder(stateDir);
  if (existsSync(folder)) await endFormerServer(folder, () => undefined);
}

/** Whether a command is the Postgres of a state folder, or the program that makes its files. */
export function isPostgresOf(stateDir: string): (command: string) => boolean {
  const pointer = join(stateDir, POINTER);
  const folders = [join(stateDir, 'postgres'), join(realpathSync(stateDir), 'postgres')];
  if (existsSync(pointer)) folders.push(readFileSync(pointer, 'utf8').trim());
  const parts = folders.flatMap((folder) => [`/postgres -D ${folder} `, `/initdb --pgdata=${folder}.new `]);
  return (command) => parts.some((part) => command.includes(part));
}

function readPassword(stateDir: string, isNew: boolean): string {
  const file = join(stateDir, 'postgres-password');
  if (isNew) writeFileSync(file, randomBytes(24).toString('hex'), { mode: 0o600 });
  else if (!existsSync(file)) {
    throw new Error(
      `${file} is gone, and the data beside it needs it. Put it back, or remove ${stateDir} to start afresh.`,
    );
  }
  return readFileSync(file, 'utf8').trim();
}

async function initialise(
  dataDir: string,
  password: string,
  { initdb, user }: PostgresBinaries,
  options: NamedOptions,
): Promise<void> {
  // The cluster is made aside and renamed, so that a killed first start does not leave half a cluster in its place.
  const making = `${dataDir}.new`;
  rmSync(making, { recursive: true, force: true });
  rmSync(dataDir, { recursive: true, force: true });
  // The folders above stay open to pass through: if we are root, another user owns the one inside.
  mkdirSync(dirname(dataDir), { recursive: true, mode: 0o755 });
  mkdirSync(making, { mode: 0o700 });
  const passwordFile = join(dirname(dataDir), '.postgres-init');
  writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 });
  if (user !== undefined) {
    chownSync(making, user.uid, user.gid);
    chownSync(passwordFile, user.uid, user.gid);
  }
  const args = [
    `--pgdata=${making}`,
    `--username=${options.name}`,
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    // Each connection computes these iterations, on both sides.
    ...(options.durable === false ? ['--no-sync', '--set=scram_iterations=1'] : []),
  ];
  try {
    const child = await startChild({
      name: 'initdb',
      command: initdb,
      args,
      env: { ...options.env, LC_ALL: 'C' },
      cwd: making,
      logFile: logFile(options.stateDir),
      user,
    });
    options.onSpawn?.(child);
    const exit = await child.exited;
    if (exit.code !== 0) {
      throw new Error(
        `Postgres could not make its files in ${dataDir} (${exitWords(exit)}): ${child.output().trim()}`,
      );
    }
    renameSync(making, dataDir);
  } finally {
    rmSync(making, { recursive: true, force: true });
    rmSync(passwordFile, { force: true });
  }
}

function logFile(stateDir: string): string {
  return join(stateDir, 'logs', 'postgres.log');
}

/**
 * Ends the server of a killed previous run with its sessions, and removes a pid file that no longer belongs to that
 * server.
 */
async function endFormerServer(dataDir: string, progress: (detail: string) => void): Promise<void> {
  const pidFile = join(dataDir, 'postmaster.pid');
  const pid = readPid(pidFile);
  const mark = pid === undefined ? undefined : markProcess(pid);
  if (mark !== undefined && commandLineOf(mark.pid)?.includes(` -D ${dataDir} `)) {
    progress(`ending the Postgres of a former run (pid ${mark.pid})`);
    await endProcess(mark, 'SIGINT', 20_000);
  }
  // A killed server's sessions notice within moments; until they are gone, the files are theirs.
  const deadline = Date.now() + SESSIONS_END_MS;
  for (let remaining = sessionsIn(dataDir); remaining.length > 0; remaining = sessionsIn(dataDir)) {
    if (Date.now() > deadline) for (const session of remaining) await endProcess(session, 'SIGKILL', 0);
    await sleep(50);
  }
  // Postgres mistakes any process with the pid for that server, also another user's process and a dead one that is not
  // reaped yet. It also refuses a file without a pid, which a full disk leaves.
  if (pid === undefined || isTaken(pid)) rmSync(pidFile, { force: true });
}

function readPid(pidFile: string): number | undefined {
  if (!existsSync(pidFile)) return undefined;
  const pid = Number(readFileSync(pidFile, 'utf8').split('\n')[0]);
  return Number.isSafeInteger(pid) && pid > 1 ? pid : undefined;
}

function isTaken(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/**
 * Postgres' processes that work in the data folder, as all processes of one server do. On systems other than Linux,
 * Postgres itself checks.
 */
function sessionsIn(dataDir: string): ProcessMark[] {
  if (process.platform !== 'linux') return [];
  const real = realpathSync(dataDir);
  return commandLines().flatMap(({ pid, command }) => {
    // A person's shell may have the same working folder.
    if (!/^postgres:|\/postgres /.test(command)) return [];
    try {
      return readlinkSync(`/proc/${pid}/cwd`) === real ? (markProcess(pid) ?? []) : [];
    } catch {
      // The process has ended, or belongs to another user and so cannot be one of ours.
      return [];
    }
  });
}

/** True if the server that answers at the port is another's, so that ours is about to end. */
function isOther({ pid }: Child, port: number): boolean {
  return !listeningPorts(pid).includes(port);
}

async function tryCreateDatabase(
  adminUrl: string,
  name: string,
  isOther: () => boolean,
): Promise<true | undefined> {
  const client = new Client({ connectionString: adminUrl, connectionTimeoutMillis: 2_000 });
  // A server that is still starting closes connections; the next probe tries again.
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [name]);
    if (rowCount === 0) await client.query(`CREATE DATABASE ${name}`);
    return true;
  } catch (error) {
    if (isStarting(error) || isOther()) return undefined;
    throw error;
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Refused connections and SQLSTATE 57P03 (cannot_connect_now) mean “not yet”. */
function isStarting(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error ? error.code : undefined;
  return (
    code === 'ECONNREFUSED' ||
    code === 'ECONNRESET' ||
    code === '57P03' ||
    /terminated|timeout/i.test(error.message)
  );
}
