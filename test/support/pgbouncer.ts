/**
 * PgBouncer in transaction mode in front of a database. TEST_PGBOUNCER names its program (1.21 or later); the processes
 * of a stand (faults.ts) then use the database through it.
 */
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { childEnvironment } from '#config';
import { SESSION_LIMITS } from '#store/postgres/pool.ts';
import {
  type Child,
  isPortOpen,
  nextFreePort,
  startChild,
  waitUntil,
} from '@tempoclaw/dev-services/processes';

const READY_MS = 20_000;
const LIMITS = Object.entries(SESSION_LIMITS)
  .map(([name, value]) => `set ${name} = ${value}`)
  .join('; ');

export interface PgBouncerOptions {
  readonly program: string;
  /** Of the database itself, whose user needs no password. */
  readonly databaseUrl: string;
  /** Every user may pass through it: PgBouncer refuses to run as root. */
  readonly folder: string;
  /** Connections to the database. */
  readonly connections?: number;
  /** Whether its connections have the limits that the processes rely on. */
  readonly hasLimits?: boolean;
}

export async function startPgBouncer(options: PgBouncerOptions): Promise<{ url: string; child: Child }> {
  const { hostname, port, username, password, pathname } = new URL(options.databaseUrl);
  const own = await nextFreePort(0);
  const folder = join(options.folder, 'pgbouncer');
  await mkdir(folder, { recursive: true });
  await chmod(folder, 0o777);
  const file = join(folder, 'pgbouncer.ini');
  const secret = password === '' ? '' : ` password=${decodeURIComponent(password)}`;
  const limits = (options.hasLimits ?? true) ? ` connect_query='${LIMITS}'` : '';
  const lines = [
    '[databases]',
    `${pathname.slice(1)} = host=${hostname} port=${port} user=${username}${secret}${limits}`,
    '[pgbouncer]',
    `listen_addr = 127.0.0.1`,
    `listen_port = ${own}`,
    'unix_socket_dir =',
    'auth_type = any',
    'pool_mode = transaction',
    'max_prepared_statements = 200',
    'max_client_conn = 1000',
    `default_pool_size = ${options.connections ?? 10}`,
    // A kill of Postgres must not be remembered longer than Postgres needs to return.
    'server_login_retry = 1',
    // Nor may a request wait for it longer than for Postgres itself.
    'query_wait_timeout = 5',
  ];
  await writeFile(file, `${lines.join('\n')}\n`);
  const isRoot = process.getuid?.() === 0;
  const child = await startChild({
    name: 'PgBouncer',
    command: options.program,
    args: [...(isRoot ? ['--user=nobody'] : []), file],
    env: childEnvironment({}),
    cwd: folder,
    logFile: join(options.folder, 'logs', 'pgbouncer.log'),
    stopGraceMs: 1_000,
  });
  await waitUntil(child, async () => (await isPortOpen(`127.0.0.1:${own}`)) || undefined, READY_MS);
  return { url: `postgres://${username}@127.0.0.1:${own}${pathname}`, child };
}
