/** Runs the command line: as a child process, plainly or on a terminal of its own, or in one that runs many. */
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { CliResult, CommandLine } from './cli-host.ts';
import { KEY } from './fake-api.ts';

const MAIN = fileURLToPath(new URL('../../../cli/main.ts', import.meta.url));
const HOST = fileURLToPath(new URL('./cli-host.ts', import.meta.url));
const TERMINAL = fileURLToPath(new URL('./terminal.py', import.meta.url));

/** These pass on their streams, or are about signals and pipes. */
const OF_THEIR_OWN = new Set(['chat', 'demo', 'run', 'temporal', 'up']);

export type { CliResult };

export interface CliRun {
  readonly child: ChildProcess;
  stdout(): string;
  stderr(): string;
  type(text: string): void;
  /**
   * Resolves with the output once `pattern` is in it (from `from` characters on); rejects when the command ends without
   * it.
   */
  sees(pattern: RegExp, from?: number): Promise<string>;
  readonly ended: Promise<CliResult>;
}

export interface CliSettings {
  readonly url?: string;
  readonly cwd?: string;
  readonly env?: Record<string, string>;
  /** Runs on a terminal, made by Python's pty module. */
  readonly terminal?: boolean;
  /** Width of the terminal (100). */
  readonly columns?: number;
  readonly input?: string;
}

export function startCli(args: readonly string[], settings: CliSettings = {}): CliRun {
  const command = [process.execPath, MAIN, ...args];
  const [program = '', ...rest] = settings.terminal ? ['python3', TERMINAL, ...command] : command;
  const child = spawn(program, rest, {
    cwd: settings.cwd ?? process.cwd(),
    env: variablesOf(settings),
    stdio: 'pipe',
  });
  let stdout = '';
  let stderr = '';
  const watchers = new Set<() => void>();
  const changed = (): void => {
    for (const watcher of watchers) watcher();
  };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    changed();
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
    changed();
  });
  if (settings.input !== undefined) child.stdin.end(settings.input);
  else if (!settings.terminal) child.stdin.end();
  const ended = new Promise<CliResult>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stdout, stderr }));
  });
  return {
    child,
    ended,
    stdout: () => stdout,
    stderr: () => stderr,
    type: (text) => void child.stdin.write(text),
    sees: (pattern, from = 0) =>
      new Promise((resolve, reject) => {
        const probe = (): void => {
          const all = (stdout + stderr).slice(from);
          if (!pattern.test(all)) return;
          watchers.delete(probe);
          resolve(all);
        };
        watchers.add(probe);
        probe();
        child.on('close', (code) => {
          reject(new Error(`ended with ${code} without ${String(pattern)}:\n${stdout}\n${stderr}`));
        });
      }),
  };
}

function variablesOf({ terminal, columns, url, env }: CliSettings): Record<string, string> {
  return {
    PATH: process.env['PATH'] ?? '',
    NO_COLOR: '1',
    TERM: 'xterm',
    // Otherwise each command compiles the whole command line anew.
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? '',
    ...(terminal ? { TERMINAL_COLUMNS: String(columns ?? 100) } : {}),
    ...(url === undefined ? {} : { TEMPOCLAW_URL: url, TEMPOCLAW_API_KEY: KEY }),
    ...env,
  };
}

let host: ChildProcess | undefined;
let isBusy = false;

/** Runs without a terminal, to its end. It uses the process that runs many, unless that is running one already. */
export async function runCli(args: readonly string[], settings: CliSettings = {}): Promise<CliResult> {
  if (isBusy || args.some((arg) => OF_THEIR_OWN.has(arg))) return startCli(args, settings).ended;
  isBusy = true;
  try {
    const { cwd = process.cwd(), input = '' } = settings;
    return await ask({ args, cwd, env: variablesOf(settings), input });
  } finally {
    isBusy = false;
  }
}

async function ask(line: CommandLine): Promise<CliResult> {
  host ??= fork(HOST, { execArgv: [], env: variablesOf({}), stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const [process, answered] = [host, new AbortController()];
  // Otherwise this process would not end before it.
  const hold = (on: boolean): void => {
    for (const one of [process, process.channel])
      if (on) one?.ref();
      else one?.unref();
  };
  hold(true);
  try {
    const { signal } = answered;
    const ended = once(process, 'exit', { signal }).then(([code]) => {
      host = undefined;
      throw new Error(`the process of \`tempoclaw ${line.args.join(' ')}\` ended with ${code}`);
    });
    const answer = once(process, 'message', { signal }) as Promise<[CliResult]>;
    process.send(line);
    const [result] = await Promise.race([answer, ended]);
    return result;
  } finally {
    answered.abort();
    hold(false);
  }
}
