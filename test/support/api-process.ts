/** The API as a process of its own, for tests that end or kill it. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('../../api/main.ts', import.meta.url));

export interface ApiProcess {
  readonly address: string;
  readonly child: ChildProcess;
  /** The exit code; null after SIGKILL. */
  end(signal?: 'SIGTERM' | 'SIGKILL'): Promise<number | null>;
}

/** Resolves when it is ready; rejects with its exit code when it ends before. */
export async function startApiProcess(options: {
  readonly databaseUrl: string;
  readonly stateDir: string;
  readonly cwd: string;
  readonly port?: number;
  readonly taskQueue?: string;
}): Promise<ApiProcess> {
  const child = fork(MAIN, [], {
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    env: {
      PATH: process.env['PATH'],
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
      DATABASE_URL: options.databaseUrl,
      TEMPORAL_ADDRESS: process.env['TEST_TEMPORAL_ADDRESS'],
      TEMPOCLAW_STATE_DIR: options.stateDir,
      TEMPOCLAW_PORT: String(options.port ?? 0),
      ...(options.taskQueue === undefined ? {} : { TEMPOCLAW_TASK_QUEUE: options.taskQueue }),
    },
    cwd: options.cwd,
  });
  const exited = once(child, 'exit').then(([code]) => code as number | null);
  const address = await new Promise<string>((resolve, reject) => {
    child.on('message', (message: { readonly type: string; readonly address?: string }) => {
      if (message.type === 'ready') resolve(message.address ?? '');
    });
    exited.then((code) => reject(new Error(`ended with ${code}`)), reject);
  });
  return {
    address,
    child,
    end(signal = 'SIGTERM') {
      child.kill(signal);
      return exited;
    },
  };
}
