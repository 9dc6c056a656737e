/**
 * Starts commands from a small process of ours: a start copies the page tables of whoever starts, for a worker of 250 MB some
 * milliseconds in which it does nothing else. What a command writes goes to the worker directly, over two sockets; the small
 * process only starts and says how it ended. Until it is up, and where it does not work, a command is started here.
 */
import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { processRow } from './process-table.ts';

/** A program with all that it is given: its input is empty, and it leads a session and process group of its own. */
export interface Launch {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

export interface Launched {
  readonly pid: number;
  /** Clock ticks since boot at its start; 0 where nobody knows. */
  readonly since: number;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Never rejects. Both null when nobody can say. */
  readonly end: Promise<Ended>;
}

export interface Ended {
  readonly code: number | null;
  readonly signal: string | null;
}

/** Nobody can say whether the program runs. */
export class LaunchLost extends Error {}

/** Throws when the program does not start; a `LaunchLost` when it may have. */
export type Launcher = (launch: Launch) => Promise<Launched>;

/** To the small process. */
export interface Asked extends Launch {
  readonly id: string;
}

/** From it: that a program runs, that it does not, or that it has ended. */
export type Told =
  | { readonly up: true }
  | ({ readonly id: string } & (
      | { readonly pid: number; readonly since: number }
      | { readonly failed: string }
      | Ended
    ));

/** First on each socket: whose output follows, and which (1 or 2). */
export const headerOf = (id: string, output: 1 | 2): string => `${id}${output}`;
const ID_BYTES = 16;
const HEADER = ID_BYTES * 2 + 1;
const HEADER_MS = 10_000;
/** A start that takes longer has a small process that was stopped: it is ended, and with it what it started. */
const START_MS = 30_000;

const PROGRAM = fileURLToPath(new URL('./launcher-process.ts', import.meta.url));

/** As Node does it. */
export const launchHere: Launcher = async ({ file, args, cwd, env }) => {
  const child: ChildProcessByStdio<null, Readable, Readable> = spawn(file, args, {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const end = new Promise<Ended>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
  if (child.pid === undefined) throw (await once(child, 'error'))[0];
  return { pid: child.pid, since: startOf(child.pid), stdout: child.stdout, stderr: child.stderr, end };
};

/** To be asked in the turn of the event loop that started it: an ended one keeps its row until then. */
export function startOf(pid: number): number {
  return Number(processRow(pid)?.started ?? 0);
}

/** By a small process that is started with the first command, and anew when it is lost; it ends with this one. */
export function createLauncher(): Launcher {
  let launch: Launcher | undefined;
  let isWanted = true;
  const start = (): void => {
    isWanted = false;
    const helper = startHelper({
      onUp: (ready) => {
        launch = ready;
      },
      // One that never came up would not the next time.
      onLost: () => {
        isWanted = launch !== undefined;
        launch = undefined;
      },
    });
    // No folder for its socket, or no process: commands are started here.
    helper.catch(() => undefined);
  };
  return async (asked) => {
    if (isWanted) start();
    if (!launch) return launchHere(asked);
    try {
      return await launch(asked);
    } catch (error) {
      if (error instanceof LaunchLost) throw error;
      // It has not run, so here it may: either it starts, or this says best why not.
      return launchHere(asked);
    }
  };
}

/** What is awaited of one program. */
interface Waiting {
  readonly outputs: Socket[];
  readonly ready: () => void;
  readonly fail: (error: Error) => void;
  readonly ended: (end: Ended) => void;
  started?: { readonly pid: number; readonly since: number };
  over?: true;
}

interface Watch {
  readonly onUp: (launch: Launcher) => void;
  readonly onLost: () => void;
}

async function startHelper({ onUp, onLost }: Watch): Promise<void> {
  const waiting = new Map<string, Waiting>();
  // This process may end while nothing runs, and not while something does.
  const hold = (): void => (waiting.size > 0 ? child.channel?.ref() : child.channel?.unref());
  /** The end of a short command may be told before its sockets are looked at. */
  const forget = (id: string, one: Waiting): void => {
    if (one.over && one.outputs[0] && one.outputs[1]) waiting.delete(id);
    hold();
  };
  const folder = await mkdtemp(join(tmpdir(), 'tempoclaw-launcher-'));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  process.once('exit', remove);
  const server = await listen(join(folder, 'socket'), (header, socket) => {
    const one = waiting.get(header.slice(0, -1));
    if (!one) return socket.destroy();
    one.outputs[Number(header.at(-1)) - 1] = socket;
    one.ready();
    forget(header.slice(0, -1), one);
  });
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', PROGRAM, join(folder, 'socket')],
    {
      // Nothing of ours: a command can read the environment of whoever started it.
      env: {},
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    },
  );
  child.unref();
  child.channel?.unref();
  let isLost = false;
  const lose = (): void => {
    if (isLost) return;
    isLost = true;
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
  const launch: Launcher = (asked) => {
    const launched = ask(child, waiting, asked);
    hold();
    return launched;
  };
  child.on('message', (told: Told) => {
    if ('up' in told) return onUp(launch);
    const one = waiting.get(told.id);
    if (!one) return;
    if ('failed' in told) {
      one.fail(new Error(told.failed));
      waiting.delete(told.id);
    } else if ('pid' in told) {
      one.started = told;
      one.ready();
    } else {
      one.ended(told);
      one.over = true;
      forget(told.id, one);
    }
    hold();
  });
}

function ask(child: ChildProcess, waiting: Map<string, Waiting>, launch: Launch): Promise<Launched> {
  const id = randomBytes(ID_BYTES).toString('hex');
  return new Promise((resolve, reject) => {
    let ended: (end: Ended) => void = () => undefined;
    const end = new Promise<Ended>((settle) => {
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
    // A folder that is held open here is found there under our id.
    const cwd = launch.cwd.replace(/^\/proc\/self\//, `/proc/${process.pid}/`);
    const asked: Asked = { ...launch, cwd, id };
    child.send(asked, (error) => {
      if (!error) return;
      waiting.delete(id);
      one.fail(new LaunchLost(error.message));
    });
  });
}

async function listen(path: string, take: (header: string, socket: Socket) => void): Promise<Server> {
  const server = createServer((socket) => {
    // A command that is killed may break it; its end is told in another way.
    socket.on('error', () => undefined);
    // Anybody of our user may come here; who does not know an id is not kept.
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
