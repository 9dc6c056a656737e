/** A worker's process as the bench controls it: it starts it, watches it, reads its memory, and kills it. */
import { fileURLToPath, pathToFileURL } from 'node:url';
import { z } from 'zod';
import { childEnvironment } from '#config';
import { startChild, waitUntil } from '@tempoclaw/dev-services/processes';

const messages = z.union([
  z.object({ type: z.literal('ready') }),
  z.object({
    type: z.literal('memory'),
    main: z.number(),
    workflows: z.number(),
    rss: z.number(),
  }),
]);

export type Memory = Omit<Extract<z.infer<typeof messages>, { type: 'memory' }>, 'type'>;

export interface WorkerProcess {
  readonly pid: number;
  /** Memory after a garbage collection in all its threads; takes two seconds. */
  memory(): Promise<Memory>;
  /** Sends SIGKILL; resolves when the process is gone. */
  kill(): Promise<void>;
  stop(): Promise<void>;
}

export interface WorkerProcessOptions {
  readonly name: string;
  readonly main: string;
  readonly args?: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly logFile: string;
  /** Folder into which it writes a CPU profile when it ends. */
  readonly profileDir?: string | undefined;
}

const READY_MS = 180_000;
const MEMORY_MS = 30_000;

/** Resolves when the worker polls. */
export async function startWorkerProcess(options: WorkerProcessOptions): Promise<WorkerProcess> {
  let ready: true | undefined;
  let memory: Memory | undefined;
  const probe = pathToFileURL(fileURLToPath(new URL('./worker-probe.ts', import.meta.url))).href;
  const profile = options.profileDir ? ['--cpu-prof', `--cpu-prof-dir=${options.profileDir}`] : [];
  const child = await startChild({
    name: options.name,
    command: process.execPath,
    args: [
      '--disable-warning=ExperimentalWarning',
      ...profile,
      '--import',
      probe,
      options.main,
      ...(options.args ?? []),
    ],
    env: childEnvironment(options.env),
    logFile: options.logFile,
    ipc: true,
    stopGraceMs: 15_000,
    onMessage(value) {
      const message = messages.safeParse(value);
      if (!message.success) return;
      if (message.data.type === 'ready') ready = true;
      else memory = message.data;
    },
  });
  try {
    await waitUntil(child, () => ready, READY_MS);
  } catch (error) {
    await child.stop();
    throw error;
  }
  return {
    pid: child.pid,
    memory() {
      memory = undefined;
      process.kill(child.pid, 'SIGUSR2');
      return waitUntil(child, () => memory, MEMORY_MS);
    },
    async kill() {
      process.kill(child.pid, 'SIGKILL');
      await child.exited;
    },
    stop: () => child.stop(),
  };
}
