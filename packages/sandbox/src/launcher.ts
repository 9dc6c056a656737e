/**
 * Starts commands from a small process. A start copies the page tables of the starting process, which blocks a worker
 * of 250 MB for some milliseconds. A command's output goes directly to the worker over two sockets. The small process
 * only starts it and reports how it ended. Where commands are confined (wall.ts), it runs confined with everything it
 * starts.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { realpathSync, rmSync, statSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { processRow } from './process-table.ts';
import { makeWorkerFolder, NAME_LENGTH } from './worker-folders.ts';

/** A program with its whole input: stdin is empty, and it leads its own session and process group. */
export interface Launch {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Its own folders: when confined, it writes there and sees nobody else's. */
  readonly folders: readonly string[];
  /** Its environment contains values that no other command may see, not even one with the same folders. */
  readonly apart?: boolean;
}

export interface Launched {
  readonly pid: number;
  /** Clock ticks since boot at its start; 0 when unknown. */
  readonly since: number;
  /** The parent of all processes that it leaves behind, if it has one (wall_keeper.py). */
  readonly keeper?: number;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Never rejects. Both are null when it is unknown. */
  readonly end: Promise<CommandEnd>;
}

export interface CommandEnd {
  readonly code: number | null;
  readonly signal: string | null;
}

/** It is unknown whether the program runs. */
export class LaunchLost extends Error {}

/** Throws when the program does not start; a `LaunchLost` when it may have. */
export type Launcher = (launch: Launch & Pick<LaunchRequest, 'folder'>) => Promise<Launched>;

/** Sent to the small process. */
export interface LaunchRequest extends Launch {
  readonly id: string;
  /** Device and inode of `cwd`. */
  readonly folder?: string;
}

/** Sent by it: a program runs, does not run, or has ended. */
export type LauncherMessage =
  | { readonly up: true }
  | ({ readonly id: string } & (
      | Pick<Launched, 'pid' | 'since' | 'keeper'>
      | { readonly failed: string }
      | CommandEnd
    ));

/** The first line on each socket: the command, and which output follows (1 or 2). */
export const headerOf = (id: string, output: 1 | 2): string => `${id}${output}`;
const ID_BYTES = 16;
const HEADER = ID_BYTES * 2 + 1;
const HEADER_MS = 10_000;
/** After a longer start, the small process is stuck: it is ended together with what it started. */
const START_MS = 30_000;

export const LAUNCHER_PROGRAM = fileURLToPath(new URL('./launcher-process.ts', import.meta.url));

/** Returns the arguments that start the small process for a socket. */
type HelperCommand = (socket: string) => readonly string[];

const HERE: HelperCommand = (socket) => [
  process.execPath,
  '--disable-warning=ExperimentalWarning',
  LAUNCHER_PROGRAM,
  socket,
];

/** Call it in the same turn of the event loop as the start: an ended process keeps its row until then. */
export function startOf(pid: number): number {
  return Number(processRow(pid)?.started ?? 0);
}

/** Greatest length of a socket's path (on macOS), and of its part after the folder: `/NAME/s`. */
const MAX_PATH = 103;
const MAX_NAME = NAME_LENGTH + 3;

/**
 * The folder of launchers' sockets. Commands cannot write there; otherwise one could replace our socket and receive
 * connections. Only a state folder with a too long path uses the temporary folder (wall.ts).
 */
export function socketsFolder(stateDir: string): string {
  const own = join(stateDir, 'run');
  return own.length + MAX_NAME <= MAX_PATH ? own : tmpdir();
}

/**
 * Starts commands only through a small process. It is started for the first command, which waits for it, and again when
 * it is lost; it ends with this process. A start throws when the small process does not start.
 */
export function createLauncher(sockets = tmpdir(), command: HelperCommand = HERE): Launcher {
  let helper: Promise<Launcher> | undefined;
  const start = (): Promise<Launcher> =>
    new Promise((resolve, reject) => {
      const onLost = (): void => {
        helper = undefined;
        reject(new Error('the process that starts commands did not come up'));
      };
      startHelper(command, sockets, { onUp: resolve, onLost }).catch((error: unknown) => {
        helper = undefined;
        reject(error);
      });
    });
  return async (request) => {
    helper ??= start();
    return (await helper)(request);
  };
}

/**
 * The same when confined. Then it cannot open our folder descriptors, so it receives device and inode of the folder.
 */
export function createWalledLauncher(command: HelperCommand, sockets?: string): Launcher {
  const launch = createLauncher(sockets, command);
  return async (request) => {
    const { dev, ino } = statSync(request.cwd, { bigint: true });
    const folders = request.folders.map((folder) => realpathSync(folder));
    return launch({ ...request, cwd: realpathSync(request.cwd), folder: `${dev}.${ino}`, folders });
  };
}

/** What is awaited for one program. */
interface Waiting {
  readonly outputs: Socket[];
  readonly ready: () => void;
  readonly fail: (error: Error) => void;
  readonly ended: (end: CommandEnd) => void;
  started?: Pick<Launched, 'pid' | 'since' | 'keeper'>;
  over?: true;
}

interface Watch {
  readonly onUp: (launch: Launcher) => void;
  readonly onLost: () => void;
}

async function startHelper(command: HelperCommand, sockets: string, { onUp, onLost }: Watch): Promise<void> {
  const waiting = new Map<string, Waiting>();
  // This process may exit while no command runs, but not while one does.
  const hold = (): void => (waiting.size > 0 ? child.channel?.ref() : child.channel?.unref());
  /** The end of a short command may be reported before its sockets are connected. */
  const forget = (id: string, one: Waiting): void => {
    if (one.over && one.outputs[0] && one.outputs[1]) waiting.delete(id);
    hold();
  };
  const folder = makeWorkerFolder(sockets);
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  process.once('exit', remove);
  const server = await listen(join(folder, 's'), (header, socket) => {
    const one = waiting.get(header.slice(0, -1));
    if (!one) return socket.destroy();
    one.outputs[Number(header.at(-1)) - 1] = socket;
    one.ready();
    forget(header.slice(0, -1), one);
  });
  const [file = '', ...args] = command(join(folder, 's'));
  const child = spawn(file, args, {
    // It contains nothing of ours, because a command can read the environment of its starter.
    env: {},
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  const late = setTimeout(() => child.kill('SIGKILL'), START_MS);
  child.unref();
  child.channel?.unref();
  let isLost = false;
  const lose = (): void => {
    if (isLost) return;
    isLost = true;
    clearTimeout(late);
    onLost();
    server.close();
    process.removeListener('exit', remove);
    remove();
    for (const one of waiting.values()) {
      one.fail(new LaunchLost('the process that starts commands was lost'));
      one.ended({ code: null, signal: null });
    }
    waiting.clear();
  };
  child.once('error', lose);
  child.once('exit', lose);
  const launch: Launcher = (request) => {
    const launched = ask(child, waiting, request);
    hold();
    return launched;
  };
  child.on('message', (message: LauncherMessage) => {
    if ('up' in message) {
      clearTimeout(late);
      return onUp(launch);
    }
    const one = waiting.get(message.id);
    if (!one) return;
    if ('failed' in message) {
      one.fail(new Error(message.failed));
      waiting.delete(message.id);
    } else if ('pid' in message) {
      one.started = message;
      one.ready();
    } else {
      one.ended(message);
      one.over = true;
      if (one.started) forget(message.id, one);
      else {
        one.fail(new LaunchLost('what starts commands of this workspace was lost'));
        waiting.delete(message.id);
      }
    }
    hold();
  });
}

function ask(
  child: ChildProcess,
  waiting: Map<string, Waiting>,
  launch: Parameters<Launcher>[0],
): Promise<Launched> {
  const id = randomBytes(ID_BYTES).toString('hex');
  return new Promise((resolve, reject) => {
    let ended: (end: CommandEnd) => void = () => undefined;
    const end = new Promise<CommandEnd>((settle) => {
      ended = settle;
    });
    const late = setTimeout(() => child.kill('SIGKILL'), START_MS);
    const one: Waiting = {
      outputs: [],
      ready() {
        const [stdout, stderr] = one.outputs;
        if (!one.started || !stdout || !stderr) return;
        clearTimeout(late);
        resolve({ ...one.started, stdout, stderr, end });
      },
      fail(error) {
        clearTimeout(late);
        for (const socket of one.outputs) socket?.destroy();
        reject(error);
      },
      ended,
    };
    waiting.set(id, one);
    // A folder that is held open here is found there under our process id.
    const cwd = launch.cwd.replace(/^\/proc\/self\//, `/proc/${process.pid}/`);
    const request: LaunchRequest = { ...launch, cwd, id };
    child.send(request, (error) => {
      if (!error) return;
      waiting.delete(id);
      one.fail(new LaunchLost(error.message));
    });
  });
}

async function listen(path: string, take: (header: string, socket: Socket) => void): Promise<Server> {
  const server = createServer((socket) => {
    // A killed command may break it; its end is reported separately.
    socket.on('error', () => undefined);
    // Any process of our user may connect; a connection without a known id is closed.
    socket.setTimeout(HEADER_MS, () => socket.destroy());
    const read = (): void => {
      const header: Buffer | null = socket.read(HEADER) as Buffer | null;
      if (!header) return;
      socket.removeListener('readable', read);
      socket.setTimeout(0);
      take(header.toString('latin1'), socket);
    };
    socket.on('readable', read);
  });
  server.listen(path);
  await once(server, 'listening');
  server.unref();
  return server;
}
