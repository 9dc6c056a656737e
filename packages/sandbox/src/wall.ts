/**
 * The wall around commands on the host. What stands behind it reads no secret of the deployment and no file of another
 * user, changes nothing but its own folders, reaches none of our ports, and neither sees nor touches a process outside. On Linux it
 * is Landlock with seccomp (wall.py), on macOS sandbox-exec. How much of it holds here is proven when a worker starts (prove-wall.ts).
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Wall } from './settings/settings.ts';
import { createLauncher, createWalledLauncher, type Launcher, socketsFolder } from './launcher.ts';
import { seatbeltProfile } from './seatbelt-profile.ts';
import { makeTemporaryFolder } from './worker-folders.ts';

/** All paths are real ones. */
export interface WallPlan {
  /** Files and folders that are not seen; they need not be there yet. */
  readonly hidden: readonly string[];
  /** Folders to read below hidden ones. */
  readonly shown: readonly string[];
  /** Folders, also below hidden ones, of which a command has its own folders and sees no others. */
  readonly apart: readonly string[];
  /** TCP ports that nothing connects to, wherever they are, and that nothing listens on. */
  readonly ports: readonly number[];
  readonly bounds: CommandBounds;
}

/** Of the commands of one workspace together, kept by wall_bounds.py. */
export interface CommandBounds {
  /** Stands before the words of a bound that is passed. */
  readonly name: string;
  /** With their threads. */
  readonly processes: number;
  /** Bytes, as are those of `disk`: of the workspace and its temporary folder. */
  readonly memory: number;
  readonly disk: number;
  /** Where each is set, as whoever passes it reads. */
  readonly settings: Readonly<Record<'processes' | 'memory' | 'disk', string>>;
}

/** How commands get behind the wall. */
export interface HostWall {
  readonly wall: Wall;
  /** What commands on the host are started by. */
  readonly start: Launcher;
  /** Words before a program, which then has a wall of its own around it and these folders. */
  prefix(folders: readonly string[]): readonly string[];
  /** What a command with these folders is given, so that it finds a place of its own for temporary files and caches. */
  environment(folders: readonly string[]): Readonly<Record<string, string>>;
  /** Ends what is kept for commands. */
  close(): void;
}

/** No wall: commands run as the worker does. */
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
  /** Folders below which those are that a single command gets. */
  readonly commandFolders: readonly string[];
  /** The folder of the program that runs the commands, which they must not change. It has a `package.json`. */
  readonly program: string;
  readonly ports: readonly number[];
  readonly bounds: CommandBounds;
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
  const own = realpathSync(makeTemporaryFolder('commands'));
  for (const folder of settings.commandFolders) mkdirSync(folder, { recursive: true, mode: 0o700 });
  const plan: WallPlan = {
    // What lies in a temporary folder is another command's, or a person's.
    hidden: [...hidden, ...[base, '/tmp', '/var/tmp'].map(realPath)],
    // Its packages, the Node that runs it among them, may be linked from elsewhere.
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
        // Whatever is cached is run later, also by people and other users: not theirs.
        XDG_CACHE_HOME: join(temporary, 'cache'),
        npm_config_cache: join(temporary, 'npm'),
      };
    },
    close: () => rmSync(own, { recursive: true, force: true, maxRetries: 3 }),
  };
}

type Behind = Pick<HostWall, 'start' | 'prefix'>;

const WALL_PROGRAM = fileURLToPath(new URL('wall.py', import.meta.url));
/** Not the first of PATH: what manages several versions of Python takes long to start one. */
const PYTHONS = ['/usr/bin/python3', '/usr/local/bin/python3', 'python3'];

const wallProgram = (plan: Pick<WallPlan, 'bounds'>): readonly string[] => {
  const python = PYTHONS.find((path) => existsSync(path)) ?? 'python3';
  return [python, '-I', '-S', WALL_PROGRAM, JSON.stringify(plan)];
};

/** Words before a program that makes a box of its own, which a wall would forbid: that then has bounds, where Python is. Only on Linux. */
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

/** A sandbox there cannot be made narrower, so each command has one of its own. */
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

/** Also of what is not there yet. */
function realPath(path: string): string {
  if (existsSync(path)) return realpathSync(path);
  const folder = dirname(path);
  return folder === path ? path : join(realPath(folder), basename(path));
}

function isWithin(path: string, folder: string): boolean {
  return !relative(folder, path).startsWith('..');
}
