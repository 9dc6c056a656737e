/** Runs one command of a node: no shell, a process group of its own that ends as a whole, and bounded output. */
import { spawn } from 'node:child_process';
import type { NodeResult } from '../schema.ts';

export interface NodeCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  readonly milliseconds: number;
}

/** Bytes of each of the two streams: the first half and the last half of them. */
const HALF = 32_768;

/** Never rejects. */
export function runCommand({
  command,
  args,
  cwd,
  environment,
  signal,
  milliseconds,
}: NodeCommand): Promise<NodeResult> {
  if (signal.aborted) return Promise.resolve({ ok: false, code: 'Cancelled', text: 'it was not begun' });
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd,
      env: environment,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    const [out, err] = [keepEnds(), keepEnds()];
    child.stdout.on('data', out.add);
    child.stderr.on('data', err.add);
    let why: 'Timeout' | 'Cancelled' | undefined;
    const end = (code: 'Timeout' | 'Cancelled'): void => {
      why ??= code;
      killGroup(child.pid);
    };
    const timer = setTimeout(end, milliseconds, 'Timeout');
    const cancel = (): void => end('Cancelled');
    signal.addEventListener('abort', cancel, { once: true });
    const settle = (head: string, code?: NodeResult['code']): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', cancel);
      const parts = [head, part('stdout', out.text()), part('stderr', err.text())];
      resolve({ ok: code === undefined, code, text: parts.filter((text) => text !== '').join('\n') });
    };
    child.once('error', (error) => settle(`it cannot be started: ${error.message}`, 'ExecutionFailed'));
    child.once('exit', (code, killedBy) => {
      // What the command has left running ends with it; what has left its group no longer holds the streams.
      killGroup(child.pid);
      setTimeout(() => [child.stdout, child.stderr].forEach((stream) => stream.destroy()), 500);
      child.once('close', () => {
        if (why !== undefined)
          return settle(`ended: ${why === 'Timeout' ? 'its time was over' : 'it was stopped'}`, why);
        if (code === 0) return settle('exit code 0');
        settle(killedBy === null ? `exit code ${code}` : `ended by ${killedBy}`, 'ExecutionFailed');
      });
    });
  });
}

function part(name: string, text: string): string {
  return text === '' ? '' : `${name}:\n${text}`;
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // No process of it is left.
  }
}

function keepEnds(): { add(chunk: Buffer): void; text(): string } {
  let first = Buffer.alloc(0);
  let last = Buffer.alloc(0);
  let remaining = 0;
  return {
    add(chunk) {
      const capacity = HALF - first.length;
      first = Buffer.concat([first, chunk.subarray(0, capacity)]);
      const rest = Buffer.concat([last, chunk.subarray(capacity)]);
      remaining += Math.max(0, rest.length - HALF);
      last = rest.subarray(Math.max(0, rest.length - HALF));
    },
    text: () =>
      remaining === 0
        ? Buffer.concat([first, last]).toString('utf8')
        : `${first.toString('utf8')}\n[${remaining} bytes are left out]\n${last.toString('utf8')}`,
  };
}
