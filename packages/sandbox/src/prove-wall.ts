/**
 * Tests how well commands are confined on this machine by trying to escape. Only what was proven counts: a kernel may
 * lack a part of it, and a container may forbid it.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Wall } from './settings/settings.ts';
import { buildWall, type HostWall, type WallSettings, withoutWall } from './wall.ts';

export interface ProvenWall {
  readonly host: HostWall;
  /** Why it is not more. */
  readonly why?: string;
}

/** Never throws when this machine lacks a capability. */
export async function proveWall(settings: WallSettings): Promise<ProvenWall> {
  await mkdir(settings.stateDir, { recursive: true });
  const secret = join(settings.stateDir, `wall-proof-${randomBytes(6).toString('hex')}`);
  const file = join(tmpdir(), `sandbox-proof-${randomBytes(6).toString('hex')}`);
  const other = join(settings.workspaceRoot, `.wall-proof-${randomBytes(6).toString('hex')}`);
  const servers = await Promise.all([listen(0), listen(0), listen(file)]);
  const [closed, open] = servers.map((server) => (server.address() as AddressInfo).port);
  await writeFile(secret, 'readable', { mode: 0o600 });
  await mkdir(other, { recursive: true });
  try {
    const host = buildWall({ ...settings, ports: [...settings.ports, closed ?? 0] });
    if (typeof host === 'string') return { host: withoutWall(settings.stateDir), why: host };
    const seen = await attempt(host, {
      secret,
      other,
      program: settings.program,
      worker: process.pid,
      closed,
      open,
      file,
    });
    const wall = wallOf(seen);
    if (wall === 'files and network') return { host };
    const why = Object.entries(seen)
      .map(([name, got]) => `${name}: ${got}`)
      .join(', ');
    if (wall === 'files') return { host: { ...host, wall }, why };
    host.close();
    return { host: withoutWall(settings.stateDir), why };
  } catch (error) {
    return {
      host: withoutWall(settings.stateDir),
      why: error instanceof Error ? error.message : String(error),
    };
  } finally {
    for (const server of servers) server.close();
    await rm(secret, { force: true });
    await rm(other, { recursive: true, force: true });
  }
}

/** The result of each attempt: `refused` when it was prevented. */
interface Seen {
  readonly read: string;
  readonly write: string;
  /** The file's mode, which its owner could change. */
  readonly mode: string;
  /** A workspace that does not belong to the command. */
  readonly other: string;
  readonly environment: string;
  readonly signal: string;
  readonly priority: string;
  readonly closed: string;
  readonly listen: string;
  /** An open port, to verify that only the confinement refuses the closed one. */
  readonly open: string;
  readonly socket: string;
}

function wallOf({ read, write, environment, open, ...others }: Seen): Wall {
  if ([read, write, environment].some((got) => got !== 'refused')) return 'none';
  const rest = Object.values(others).every((got) => got === 'refused');
  return rest && open === 'done' ? 'files and network' : 'files';
}

const ATTEMPTS = `
const { openSync, readFileSync, readdirSync, closeSync, chmodSync } = require('node:fs');
const { getPriority, setPriority } = require('node:os');
const { execFileSync } = require('node:child_process');
const { connect, createServer } = require('node:net');
const { secret, other, program, worker, closed, open, file } = JSON.parse(process.argv[1]);
const outcome = (error) => (/^(EACCES|EPERM)$/.test(error.info ? error.info.code : error.code) ? 'refused' : error.code || 'failed');
const tried = (act) => { try { act(); return 'done'; } catch (error) { return outcome(error); } };
const reached = (to) => new Promise((resolve) => {
  const socket = connect(to, () => { socket.destroy(); resolve('done'); });
  socket.on('error', (error) => resolve(outcome(error)));
});
const listened = (port) => new Promise((resolve) => {
  const server = createServer().on('error', (error) => resolve(outcome(error)));
  server.listen(port, '127.0.0.1', () => server.close(() => resolve('done')));
});
const environment = () => {
  if (process.platform === 'linux') return tried(() => readFileSync('/proc/' + worker + '/environ'));
  try { return execFileSync('/bin/ps', ['-Eww', '-o', 'command=', '-p', worker]).includes('PATH=') ? 'done' : 'refused'; }
  catch { return 'refused'; }
};
(async () => console.log(JSON.stringify({
  read: tried(() => readFileSync(secret)),
  write: tried(() => closeSync(openSync(program, 'r+'))),
  mode: tried(() => chmodSync(secret, 0o600)),
  other: tried(() => readdirSync(other)),
  environment: environment(),
  signal: tried(() => process.kill(worker, 0)),
  // Nobody can ask for less than nothing there: macOS has no call that limits another process.
  priority: process.platform === 'linux' ? tried(() => setPriority(worker, getPriority(worker))) : 'refused',
  closed: await reached({ host: '127.0.0.1', port: closed }),
  listen: await listened(closed),
  open: await reached({ host: '127.0.0.1', port: open }),
  socket: await reached({ path: file }),
})))();`;

async function attempt(host: HostWall, input: Readonly<Record<string, unknown>>): Promise<Seen> {
  const program = join(String(input['program']), 'package.json');
  const { stdout, stderr, end } = await host.start({
    file: process.execPath,
    args: ['-e', ATTEMPTS, JSON.stringify({ ...input, program })],
    cwd: '/',
    env: {},
    folders: [],
  });
  const [words, complaints] = await Promise.all([stdout.toArray(), stderr.toArray(), end]);
  try {
    return JSON.parse(Buffer.concat(words).toString()) as Seen;
  } catch {
    throw new Error(`nothing came of trying it: ${Buffer.concat(complaints).toString().slice(-300)}`);
  }
}

async function listen(at: number | string): Promise<Server> {
  const server = createServer((socket) => socket.on('error', () => undefined));
  server.listen(typeof at === 'string' ? { path: at } : { port: at, host: '127.0.0.1' });
  await once(server, 'listening');
  return server;
}
