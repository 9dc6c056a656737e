/** Runs the command line as a child process, plainly or on a terminal of its own. */
import { spawn, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { KEY } from './fake-api.ts';

const MAIN = fileURLToPath(new URL('../../../cli/main.ts', import.meta.url));
const TERMINAL = fileURLToPath(new URL('./terminal.py', import.meta.url));

export interface CliResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CliRun {
  readonly child: ChildProcess;
  stdout(): string;
  stderr(): string;
  type(text: string): void;
  /** Resolves with what was printed once `pattern` is in it (from `from` characters on); rejects when the command ends without it. */
  sees(pattern: RegExp, from?: number): Promise<string>;
  readonly ended: Promise<CliResult>;
}

export interface CliSettings {
  readonly url?: string;
  readonly cwd?: string;
  readonly env?: Record<string, string>;
  /** On a terminal, made by Python's pty module. */
  readonly terminal?: boolean;
  /** Its width (100). */
  readonly columns?: number;
  readonly input?: string;
}

export function startCli(args: readonly string[], settings: CliSettings = {}): CliRun {
  const command = [process.execPath, MAIN, ...args];
  const [program = '', ...rest] = settings.terminal ? ['python3', TERMINAL, ...command] : command;
  const child = spawn(program, rest, {
    cwd: settings.cwd ?? process.cwd(),
    env: {
      PATH: process.env['PATH'] ?? '',
      NO_COLOR: '1',
      TERM: 'xterm',
      // Else each command compiles the whole command line anew.
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? '',
      ...(settings.terminal ? { TERMINAL_COLUMNS: String(settings.columns ?? 100) } : {}),
      ...(settings.url === undefined ? {} : { TEMPOCLAW_URL: settings.url, TEMPOCLAW_API_KEY: KEY }),
      ...settings.env,
    },
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
        const look = (): void => {
          const all = (stdout + stderr).slice(from);
          if (!pattern.test(all)) return;
          watchers.delete(look);
          resolve(all);
        };
        watchers.add(look);
        look();
        child.on('close', (code) => {
          reject(new Error(`ended with ${code} without ${String(pattern)}:\n${stdout}\n${stderr}`));
        });
      }),
  };
}

export function runCli(args: readonly string[], settings: CliSettings = {}): Promise<CliResult> {
  return startCli(args, settings).ended;
}
