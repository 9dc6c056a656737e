/** TempoClaw as a user has it: a clone of the repository in a folder of its own, started with `npm start`. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { childEnvironment, commandFolders } from '#config';
import type { RunInfo } from '#cli/run-state.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const TERMINAL = fileURLToPath(new URL('../cli/support/terminal.py', import.meta.url));
/** Far longer than a start takes on a busy machine, so that only a hang reaches it. */
const PATIENCE_MS = 120_000;
/** Settings of the person who runs the tests must not reach a program that should be fresh. */
const FOREIGN =
  /^(TEMPOCLAW_(?!TEST_RUN)|TEMPORAL_|TEST_|NODE_|npm_(?!config_(?:global|user)config$)|DATABASE_URL$|POSTGRES_URL$|LOG_LEVEL$|OLLAMA_HOST$|.*_API_KEY$|.*_BASE_URL$)/;

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Program {
  readonly run: RunInfo;
  readonly key: string;
  /** Everything that `npm start` has printed so far. */
  printed(): string;
  /** The current run.json. */
  info(): RunInfo;
  /**
   * Presses Ctrl-C on its terminal, which reaches every process of the group. Resolves with the exit code of `npm
   * start`.
   */
  interrupt(): Promise<number | null>;
  /** Closes its terminal, as a window is closed. Only for one that was started at a terminal. */
  closeTerminal(): void;
  ask(method: string, path: string, body?: unknown): Promise<Answer>;
}

export interface Answer {
  readonly status: number;
  // Tests read fields of answers of every shape.
  readonly body: any;
}

export interface Clone {
  readonly folder: string;
  start(env?: Readonly<Record<string, string>>): Promise<Program>;
  /** Does the same at a real terminal of this many columns. */
  startAtTerminal(columns: number): Promise<Program>;
  /** Runs a command in the folder, by default as its user would: without any of our settings. */
  command(name: string, args: readonly string[], env?: Readonly<Record<string, string>>): Promise<Ran>;
  /** Ends what still runs and removes the folder. */
  remove(): Promise<void>;
}

/** Clones what is committed, with this checkout's installed packages. */
export async function cloneRepository(): Promise<Clone> {
  const parent = await mkdtemp(join(tmpdir(), 'tc-'));
  const folder = join(parent, 'tempoclaw');
  await ran('git', ['clone', '--quiet', ROOT, folder], { cwd: parent, env: cleanEnvironment() });
  if (!existsSync(join(folder, 'package.json'))) throw new Error(`git clone left nothing in ${folder}`);
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const running = new Set<ChildProcess>();
  return {
    folder,
    start: (env = {}) => startIn(folder, ['npm', 'start'], env, running),
    startAtTerminal: (columns) =>
      startIn(
        folder,
        ['python3', TERMINAL, 'npm', 'start'],
        { TERMINAL_COLUMNS: String(columns), TERM: 'xterm' },
        running,
      ),
    command: (name, args, env = {}) => ran(name, args, { cwd: folder, env: cleanEnvironment(env) }),
    async remove() {
      for (const child of running) await interruptGroup(child);
      // As root, Postgres' files belong to another user, and its folder disappears a moment after it.
      await rm(parent, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    },
  };
}

/** Our environment without settings, with this checkout's Node first, as npm scripts have it. */
export function cleanEnvironment(extra: Readonly<Record<string, string>> = {}): Record<string, string> {
  const own = Object.entries(childEnvironment({})).filter(([name]) => !FOREIGN.test(name));
  const path = [dirname(process.execPath), ...commandFolders()].join(':');
  return { ...Object.fromEntries(own), PATH: path, NO_COLOR: '1', ...extra };
}

/** Any free ports, so that programs run beside each other and beside a developer's own. */
const ANY_PORTS = {
  TEMPOCLAW_PORT: '0',
  TEMPOCLAW_SANDBOX: 'off',
  TEMPOCLAW_TEMPORAL_PORT: '0',
  TEMPOCLAW_TEMPORAL_UI_PORT: '0',
  TEMPOCLAW_DATABASE_PORT: '0',
};

async function startIn(
  folder: string,
  [name = '', ...args]: readonly string[],
  env: Readonly<Record<string, string>>,
  running: Set<ChildProcess>,
): Promise<Program> {
  // This makes a process group of its own, as a terminal does.
  const child = spawn(name, args, {
    cwd: folder,
    env: cleanEnvironment({ ...ANY_PORTS, ...env }),
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
  });
  const isTerminal = args.includes(TERMINAL);
  running.add(child);
  child.once('exit', () => running.delete(child));
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  const file = join(folder, '.tempoclaw', 'run.json');
  const read = (): RunInfo => JSON.parse(readFileSync(file, 'utf8')) as RunInfo;
  const until = performance.now() + PATIENCE_MS;
  while (!(output.includes('Ctrl-C ends everything') && existsSync(file))) {
    if (child.exitCode !== null || performance.now() > until)
      throw new Error(`npm start did not come up (exit code ${child.exitCode}):\n${output}`);
    await sleep(50);
  }
  const run = read();
  const key = readFileSync(run.api_key_file, 'utf8').trim();
  return {
    run,
    key,
    printed: () => output,
    info: read,
    interrupt() {
      if (!isTerminal) return interruptGroup(child);
      const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
      child.stdin.write('\u0003');
      return ended;
    },
    closeTerminal: () => void child.kill('SIGKILL'),
    async ask(method, path, body) {
      const response = await fetch(`${run.api}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${key}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: response.status, body: await response.json() };
    },
  };
}

async function interruptGroup(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  process.kill(-(child.pid ?? 0), 'SIGINT');
  return ended;
}

function ran(
  name: string,
  args: readonly string[],
  { cwd, env }: { cwd: string; env: Record<string, string> },
): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const limits = { timeout: PATIENCE_MS, maxBuffer: 16 * 1_048_576 };
    const child = execFile(name, args, { cwd, env, ...limits }, (error, stdout, stderr) => {
      if (error !== null && typeof error.code === 'string') reject(error);
      else resolve({ code: child.exitCode, stdout, stderr });
    });
    child.stdin?.end();
  });
}
