/** A Postgres and a standby that follows it by streaming replication, of the embedded programs. */
import { execFile } from 'node:child_process';
import { chmod, cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findPostgresBinaries, startPostgres } from '@tempoclaw/dev-services';
import { nextFreePort, startChild, waitUntil } from '@tempoclaw/dev-services/processes';
import { Client } from 'pg';
import { childEnvironment, userCacheDir } from '#config';
import { OWN_POSTGRES } from '#features/local/own-servers.ts';

const READY_MS = 60_000;
const SETTINGS = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'max_connections=500'];
const run = promisify(execFile);

export interface Replicated {
  /** Of the first server, which takes writes. */
  readonly url: string;
  readonly standbyUrl: string;
  /** Sets what the first server's commits wait for. */
  waitFor(standbys: string): Promise<void>;
  /** Lets the standby get nothing more. */
  cutOff(): Promise<void>;
  /** kill -9 of the first server; resolves when the standby takes writes. */
  failOver(): Promise<void>;
  stop(): Promise<void>;
}

export async function startReplicated(): Promise<Replicated> {
  const folder = await mkdtemp(join(tmpdir(), 'tempoclaw-standby-'));
  // As root, Postgres runs as another user and must be able to pass through.
  await chmod(folder, 0o711);
  const programs = { ...OWN_POSTGRES, cacheDir: userCacheDir() };
  const first = await startPostgres({
    ...programs,
    stateDir: join(folder, 'first'),
    env: childEnvironment({}),
    port: 0,
  });
  const { postgres, user } = findPostgresBinaries(programs);
  const copy = join(folder, 'standby');
  await copyDatabase(first.url, first.dataDir, copy);
  if (user !== undefined) await run('chown', ['-R', `${user.uid}:${user.gid}`, copy]);
  const port = await nextFreePort(0);
  const standby = await startChild({
    name: 'Standby',
    command: postgres,
    // No fewer connections than the first server has.
    args: ['-D', copy, '-p', String(port), ...SETTINGS.flatMap((setting) => ['-c', setting])],
    env: childEnvironment({ LC_ALL: 'C' }),
    cwd: copy,
    logFile: join(folder, 'standby.log'),
    user,
    stopSignal: 'SIGINT',
    stopGraceMs: 20_000,
  });
  const url = new URL(first.url);
  url.port = String(port);
  await waitUntil(standby, () => answers(url.href), READY_MS);
  await untilTrue(
    first.url,
    `select count(*) = 1 as value from pg_stat_replication where state = 'streaming'`,
  );
  return {
    url: first.url,
    standbyUrl: url.href,
    async waitFor(standbys) {
      await change(first.url, `alter system set synchronous_standby_names = '${standbys}'`);
      const state = standbys === '' ? 'async' : 'quorum';
      await untilTrue(first.url, `select sync_state = '${state}' as value from pg_stat_replication`);
    },
    async cutOff() {
      await change(url.href, `alter system set primary_conninfo = ''`);
      await untilTrue(first.url, 'select count(*) = 0 as value from pg_stat_replication');
    },
    async failOver() {
      first.child.kill();
      await first.exited;
      await query(url.href, 'select pg_promote()');
      await untilTrue(url.href, 'select not pg_is_in_recovery() as value');
    },
    async stop() {
      await standby.stop();
      await first.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A base backup, as the documentation of Postgres describes it (25.3.3). */
async function copyDatabase(url: string, from: string, to: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(`select pg_backup_start('standby', true)`);
    await cp(from, to, { recursive: true, filter: (path) => !path.endsWith('postmaster.pid') });
    const { rows } = await client.query<{ label: string }>(
      'select labelfile as label from pg_backup_stop(false)',
    );
    await writeFile(join(to, 'backup_label'), rows[0]?.label ?? '');
  } finally {
    await client.end();
  }
  const { hostname, port, username, password } = new URL(url);
  const source = `host=${hostname} port=${port} user=${username} password=${decodeURIComponent(password)}`;
  await writeFile(join(to, 'postgresql.auto.conf'), `primary_conninfo = '${source}'\n`);
  await writeFile(join(to, 'standby.signal'), '');
  await chmod(to, 0o700);
}

async function change(url: string, sql: string): Promise<void> {
  await query(url, sql);
  await query(url, 'select pg_reload_conf()');
}

export async function query<Row extends object>(url: string, sql: string): Promise<Row[]> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<Row>(sql)).rows;
  } finally {
    await client.end();
  }
}

async function answers(url: string): Promise<true | undefined> {
  return query(url, 'select 1').then(
    () => true,
    () => undefined,
  );
}

async function untilTrue(url: string, sql: string): Promise<void> {
  for (
    const deadline = Date.now() + READY_MS;
    (await query<{ value: boolean }>(url, sql))[0]?.value !== true;
  ) {
    if (Date.now() > deadline) throw new Error(`this did not become true: ${sql}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
