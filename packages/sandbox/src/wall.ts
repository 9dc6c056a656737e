/**
 * Confines commands on the host. A confined command reads no secret of the deployment and no file of another user. It
 * changes only its own folders, reaches none of our ports, and neither sees nor affects a process outside. On Linux
 * this is Landlock with seccomp (wall.py), on macOS sandbox-exec. A worker's start proves how much of it works here
 * (prove-wall.ts).
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Wall } from './settings/settings.ts';
import { createLauncher, createWalledLauncher, type Launcher, socketsFolder } from './launcher.ts';
import { type Confinement, seatbeltProfile } from './seatbelt-profile.ts';
import { makeTemporaryFolder } from './worker-folders.ts';

export interface WallPlan extends Confinement {
  readonly bounds: CommandBounds;
}

/** Limits for the commands of one workspace together, enforced by wall_bounds.py. */
export interface CommandBounds {
  /** Prefix of the message when a limit is exceeded. */
  readonly name: string;
  /** Number of processes with their threads. */
  readonly processes: number;
  /** Bytes. `disk` is in bytes too: of the workspace and its temporary folder. */
  readonly memory: number;
  readonly disk: number;
  /** Names of the settings, for messages. */
  readonly settings: Readonly<Record<'processes' | 'memory' | 'disk', string>>;
}

/** How commands are confined. */
export interface HostWall {
  readonly wall: Wall;
  /** Starts commands on the host. */
  readonly start: Launcher;
  /** Arguments before a program, which then is confined separately with these folders. */
  prefix(folders: readonly string[]): readonly string[];
  /** Variables for a command with these folders, so that it has its own place for temporary files and caches. */
  environment(folders: readonly string[]): Readonly<Record<string, string>>;
  /** Ends the processes and files kept for commands. */
  close(): void;
}

/** No confinement: commands run like the worker. */
export function withoutWall(stateDir?: string): HostWall {
  const start = createLauncher(stateDir === undefined ? undefined : socketsFolder(stateDir));
  return {
    wall: 'none',
    start,
    prefix: () => [],
    environment: () => ({}),
    close: () => undefined,
  };
}

export interface WallSettings {
  readonly stateDir: string;
  readonly workspaceRoot: string;
  readonly secretFiles: readonly string[];
  /** Folders that contain the folders of single commands. */
  readonly commandFolders: readonly string[];
  /** The folder of the program that runs the commands, which must not change it. It contains a `package.json`. */
  readonly program: string;
  readonly ports: readonly number[];
  readonly bounds: CommandBounds;
}

/** A person's debugger: after a signal, Node listens there for code to run. */
const INSPECTOR_PORT = 9229;

/** Why no confinement with these folders is possible, or the confinement, not yet proven. */
export function buildWall(settings: WallSettings): HostWall | string {
  mkdirSync(settings.workspaceRoot, { recursive: true });
  const workspaces = realpathSync(settings.workspaceRoot);
  const hidden = [settings.stateDir, ...settings.secretFiles].map(realPath);
  const sockets = socketsFolder(settings.stateDir);
  const kept = [...hidden, realPath(settings.program), join(realPath(sockets), 'any')];
  const within = kept.find((path) => isWithin(path, workspaces));
  if (within !== undefined) return `${within} lies within the workspaces, ${workspaces}`;
  const base = realpathSync(tmpdir());
  const own = realpathSync(makeTemporaryFolder('commands'));
  for (const folder of settings.commandFolders) mkdirSync(folder, { recursive: true, mode: 0o700 });
  const plan: WallPlan = {
    // Files in a temporary folder belong to other commands or to people.
    hidden: [...hidden, ...[base, '/tmp', '/var/tmp'].map(realPath)],
    // Its packages, including the Node that runs it, may be links to elsewhere.
    shown: [realPath(settings.program), realPath(join(settings.program, 'node_modules'))],
    apart: [workspaces, own, ...settings.commandFolders.map(realPath)],
    ports: [INSPECTOR_PORT, ...settings.ports],
    bounds: settings.bounds,
  };
  const temporaryOf = (folders: readonly string[]): string => {
    const name = createHash('sha256').update(folders.join('\0')).digest('hex').slice(0, 16);
    const folder = join(own, name);
    for (const part of ['tmp', 'cache', 'npm'])
      mkdirSync(join(folder, part), { recursive: true, mode: 0o700 });
    return folder;
  };
  const ownFolders = (folders: readonly string[]): readonly string[] => [
    ...folders.map(realPath),
    temporaryOf(folders),
  ];
  const behind = process.platform === 'darwin' ? bySeatbelt(plan, sockets) : byLandlock(plan, sockets);
  if (typeof behind === 'string') return behind;
  return {
    wall: 'files and network',
    start: (request) => behind.start({ ...request, folders: ownFolders(request.folders) }),
    prefix: (folders) => behind.prefix(ownFolders(folders)),
    environment: (folders) => {
      const temporary = temporaryOf(folders);
      return {
        TMPDIR: join(temporary, 'tmp'),
        // Cached files are run later, also by people and other users, so caches are separate.
        XDG_CACHE_HOME: join(temporary, 'cache'),
        npm_config_cache: join(temporary, 'npm'),
      };
    },
    close: () => rmSync(own, { recursive: true, force: true, maxRetries: 3 }),
  };
}

type Behind = Pick<HostWall, 'start' | 'prefix'>;

const WALL_PROGRAM = fileURLToPath(new URL('wall.py', import.meta.url));
/** Not the first of PATH: managers of several Python versions start slowly. */
const PYTHONS = ['/usr/bin/python3', '/usr/local/bin/python3', 'python3'];

const wallProgram = (plan: Pick<WallPlan, 'bounds'>): readonly string[] => {
  const python = PYTHONS.find((path) => existsSync(path)) ?? 'python3';
  return [python, '-I', '-S', WALL_PROGRAM, JSON.stringify(plan)];
};

/**
 * Arguments before a program that creates its own sandbox, which the confinement would forbid: it gets only limits,
 * where Python exists. Only on Linux.
 */
export function boundPrefix(bounds: CommandBounds, folders: readonly string[]): readonly string[] {
  if (!PYTHONS.some((path) => existsSync(path))) return [];
  return [...wallProgram({ bounds }), 'bound', JSON.stringify(folders.map(realPath))];
}

function byLandlock(plan: WallPlan, sockets: string): Behind | string {
  if (process.platform !== 'linux') return `there is none for ${process.platform}`;
  const words = wallProgram(plan);
  return {
    start: createWalledLauncher((socket) => [...words, 'serve', socket], sockets),
    prefix: (folders) => [...words, 'run', JSON.stringify(folders)],
  };
}

const SEATBELT = '/usr/bin/sandbox-exec';

/** A sandbox cannot be narrowed there, so each command has its own. */
function bySeatbelt(plan: WallPlan, sockets: string): Behind | string {
  if (!existsSync(SEATBELT)) return `${SEATBELT} is not there`;
  const launch = createLauncher(sockets);
  const prefix = (folders: readonly string[]): readonly string[] => [
    SEATBELT,
    '-p',
    seatbeltProfile(plan, folders),
  ];
  return {
    start: (request) => {
      const [file = SEATBELT, ...words] = prefix(request.folders);
      return launch({ ...request, file, args: [...words, request.file, ...request.args] });
    },
    prefix,
  };
}

/** Also for paths that do not exist yet. */
function realPath(path: string): string {
  if (existsSync(path)) return realpathSync(path);
  const folder = dirname(path);
  return folder === path ? path : join(realPath(folder), basename(path));
}

function isWithin(path: string, folder: string): boolean {
  return !relative(folder, path).startsWith('..');
}
