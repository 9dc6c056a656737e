/**
 * SH-6: the wall around commands on the host. What stands behind it reads no secret of the deployment, changes nothing but
 * workspaces and temporary files, reaches none of our ports, and sees nothing of processes outside. On Linux it is Landlock
 * (wall.py), on macOS sandbox-exec. How much of it holds here is proven when a worker starts (prove-wall.ts).
 */
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Wall } from '#domain/sandbox.ts';
import {
  createLauncher,
  createWalledLauncher,
  type Launcher,
  LAUNCHER_PROGRAM,
  socketsFolder,
} from './launcher.ts';
import { seatbeltProfile } from './seatbelt-profile.ts';

/** All paths are real ones. */
export interface WallPlan {
  /** Files and folders that are not seen; they need not be there yet. */
  readonly hidden: readonly string[];
  /** Folders to write in, also below hidden ones. */
  readonly writable: readonly string[];
  /** TCP ports that nothing connects to, wherever they are. */
  readonly ports: readonly number[];
}

/** How commands get behind the wall. */
export interface HostWall {
  readonly wall: Wall;
  /** What commands on the host are started by. */
  readonly start: Launcher;
  /** For those with an environment that other commands must not see. */
  readonly startApart: Launcher;
  /** Words before a program, which then has a wall of its own around it and these folders to write in beside. */
  prefix(writable?: readonly string[]): readonly string[];
  /** What commands must be given, so that they find a place for temporary files and caches; those of `start` have it. */
  readonly environment: Readonly<Record<string, string>>;
  /** Ends what is kept for commands. */
  close(): void;
}

/** No wall: commands run as the worker does. */
export function withoutWall(stateDir?: string): HostWall {
  const start = createLauncher(stateDir === undefined ? undefined : socketsFolder(stateDir));
  return {
    wall: 'none',
    start,
    startApart: start,
    prefix: () => [],
    environment: {},
    close: () => undefined,
  };
}

export interface WallSettings {
  readonly stateDir: string;
  readonly workspaceRoot: string;
  readonly secretFiles: readonly string[];
  /** TempoClaw's own folder, which commands must not change. */
  readonly program: string;
  readonly ports: readonly number[];
}

/** A person's debugger: a signal makes Node listen there for code to run. */
const INSPECTOR_PORT = 9229;

/** Why no wall can be built around these folders, or the wall; not yet proven. */
export function buildWall(settings: WallSettings): HostWall | string {
  mkdirSync(settings.workspaceRoot, { recursive: true });
  const workspaces = realpathSync(settings.workspaceRoot);
  const hidden = [settings.stateDir, ...settings.secretFiles].map(realPath);
  const sockets = socketsFolder(settings.stateDir);
  const kept = [...hidden, realPath(settings.program), join(realPath(sockets), 'any')];
  const within = kept.find((path) => isWithin(path, workspaces));
  if (within !== undefined) return `${within} lies within the workspaces, ${workspaces}`;
  const base = realpathSync(tmpdir());
  const own = mkdtempSync(join(base, 'tempoclaw-commands-'));
  // Where ours lies below it, as that of a trial may, commands get a temporary folder of their own.
  const open = [base, '/tmp', '/var/tmp'].map(realPath).filter((path) => isOpen(path, kept));
  const environment = {
    ...(open.includes(base) ? {} : { TMPDIR: own }),
    // Whatever is cached is run later, also by people: not theirs.
    XDG_CACHE_HOME: join(own, 'cache'),
    npm_config_cache: join(own, 'npm'),
  };
  const plan = {
    hidden,
    writable: [workspaces, own, ...open],
    ports: [INSPECTOR_PORT, ...settings.ports],
  };
  const behind = process.platform === 'darwin' ? bySeatbelt(plan) : byLandlock(plan);
  if (typeof behind === 'string') return behind;
  const started = (by: Behind['server']): Launcher => {
    const launch = createWalledLauncher(by, sockets);
    return (asked) => launch({ ...asked, env: { ...asked.env, ...environment } });
  };
  return {
    wall: 'files and network',
    start: started(behind.server),
    startApart: started(behind.each),
    prefix: (writable = []) => behind.prefix(writable.map(realPath)),
    environment,
    close: () => rmSync(own, { recursive: true, force: true, maxRetries: 3 }),
  };
}

interface Behind {
  /** The small process that starts commands, given its socket. */
  readonly server: (socket: string) => readonly string[];
  readonly each: (socket: string) => readonly string[];
  readonly prefix: (writable: readonly string[]) => readonly string[];
}

const WALL_PROGRAM = fileURLToPath(new URL('wall.py', import.meta.url));
/** Not the first of PATH: what manages several versions of Python takes long to start one. */
const PYTHONS = ['/usr/bin/python3', '/usr/local/bin/python3', 'python3'];

function byLandlock(plan: WallPlan): Behind | string {
  if (process.platform !== 'linux') return `there is none for ${process.platform}`;
  const python = PYTHONS.find((path) => existsSync(path)) ?? 'python3';
  const words = (mode: string, writable: readonly string[] = []): readonly string[] => [
    python,
    '-I',
    '-S',
    WALL_PROGRAM,
    JSON.stringify({ ...plan, writable: [...plan.writable, ...writable] }),
    mode,
  ];
  return {
    server: (socket) => [...words('serve'), socket],
    each: (socket) => [...words('serve-each'), socket],
    prefix: (writable) => words('run', writable),
  };
}

const SEATBELT = '/usr/bin/sandbox-exec';

function bySeatbelt(plan: WallPlan): Behind | string {
  if (!existsSync(SEATBELT)) return `${SEATBELT} is not there`;
  const words = (socket: string, writable: readonly string[] = []): readonly string[] => {
    const profile = seatbeltProfile({ ...plan, writable: [...plan.writable, ...writable] });
    return [SEATBELT, '-D', `SOCKET=${realPath(socket)}`, '-p', profile];
  };
  const server = (socket: string): readonly string[] => [
    ...words(socket),
    process.execPath,
    '--disable-warning=ExperimentalWarning',
    LAUNCHER_PROGRAM,
    socket,
  ];
  return { server, each: server, prefix: (writable) => words('/dev/null', writable) };
}

/** Also of what is not there yet. */
function realPath(path: string): string {
  if (existsSync(path)) return realpathSync(path);
  const folder = dirname(path);
  return folder === path ? path : join(realPath(folder), basename(path));
}

function isOpen(folder: string, kept: readonly string[]): boolean {
  return existsSync(folder) && !kept.some((path) => isWithin(path, folder));
}

function isWithin(path: string, folder: string): boolean {
  return !relative(folder, path).startsWith('..');
}
