/** Starts another command of this program as a process of its own. */
import { execFile, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { childEnvironment } from '#config';

export interface StartedCommand {
  readonly ended: Promise<void>;
  hasEnded(): boolean;
  /** Its first line; undefined when it has ended without one. */
  firstLine(): Promise<string | undefined>;
  /** The end of what it wrote to stderr. */
  errors(): string;
  /** Ends it, as Ctrl-C does; resolves when it has ended. */
  end(): Promise<void>;
}

const PROGRAM = fileURLToPath(new URL('../../bin/tempoclaw.js', import.meta.url));
/** Characters of its errors. */
const MAX_ERRORS = 20_000;
/** Bytes of what a command writes. */
const MAX_READ = 4_000_000;

/**
 * `lines`: its first line and its errors are read, and the rest is shown; `hidden`: only its errors are read. `more`: variables of its environment.
 */
export function startCommand(
  args: readonly string[],
  output: 'shown' | 'lines' | 'hidden',
  more: Readonly<Record<string, string>> = {},
): StartedCommand {
  const pipe = output === 'shown' ? 'inherit' : 'pipe';
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    // By the channel it notices the end of this process.
    stdio: ['ignore', pipe, pipe, 'ipc'],
    env: childEnvironment(more),
    // Ctrl-C of the terminal ends only this process, which then ends the others in their order.
    detached: true,
  });
  let hasEnded = false;
  const ended = new Promise<void>((resolve) => {
    const settle = (): void => {
      hasEnded = true;
      resolve();
    };
    child.once('error', settle);
    child.once('exit', settle);
  });
  let errors = '';
  child.stderr?.on('data', (data: Buffer) => {
    errors = `${errors}${data.toString()}`.slice(-MAX_ERRORS);
  });
  const line = new Promise<string | undefined>((resolve) => {
    let text = '';
    child.stdout?.on('data', (data: Buffer) => {
      if (output === 'hidden') return;
      if (text.includes('\n')) return void process.stdout.write(data);
      text += data.toString();
      const at = text.indexOf('\n');
      if (at < 0) return;
      resolve(text.slice(0, at));
      child.stderr?.on('data', (more: Buffer) => process.stderr.write(more));
    });
    void ended.then(() => resolve(undefined));
  });
  return {
    ended,
    hasEnded: () => hasEnded,
    firstLine: () => line,
    errors: () => errors,
    async end() {
      child.kill('SIGINT');
      await ended;
    },
  };
}

const READ_MS = 60_000;

/** Resolves with what a command writes, however it ends. `more`: variables of its environment. */
export function readCommand(
  args: readonly string[],
  more: Readonly<Record<string, string>>,
): Promise<{ readonly text: string; readonly errors: string }> {
  const options = { env: childEnvironment(more), timeout: READ_MS, maxBuffer: MAX_READ };
  return new Promise((resolve) =>
    execFile(process.execPath, [PROGRAM, ...args], options, (_error, text, errors) =>
      resolve({ text, errors: errors.slice(-MAX_ERRORS) }),
    ),
  );
}
