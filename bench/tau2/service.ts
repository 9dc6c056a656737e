/** The service of τ²: its process, and its answers. */
import { join } from 'node:path';
import { z } from 'zod';
import { childEnvironment } from '#config';
import { startChild, waitUntil } from '@tempoclaw/dev-services/processes';
import { makePython } from './python.ts';

/** The domains of τ² that have a database. */
export const DOMAINS = ['airline', 'retail', 'telecom'] as const;
export type Domain = (typeof DOMAINS)[number];

/** Its example database is read at its start. */
const START_MS = 120_000;

const tools = z.array(
  z.object({
    name: z.string(),
    writes: z.boolean(),
    description: z.string(),
    schema: z.record(z.string(), z.unknown()),
  }),
);
const tasks = z.array(
  z.object({
    id: z.string(),
    calls: z.array(z.object({ name: z.string(), arguments: z.record(z.string(), z.unknown()) })),
  }),
);
const end = z.object({
  /** Whether the databases of the shop and of the user have the hashes of gold. */
  equal: z.boolean(),
  /** What each expected call answers, in gold. */
  texts: z.array(z.string()),
  /** Expected calls that write. */
  expected: z.number(),
  /** Calls that were made once more than they were asked for, and expected ones that were not made. */
  doubled: z.number(),
  lost: z.number(),
  /** Times that a probe was told that a call had happened, and that it had not. */
  found: z.number(),
  not_found: z.number(),
});

export type Task = z.infer<typeof tasks>[number];
export type TaskEnd = z.infer<typeof end>;

export interface TauService {
  readonly url: string;
  tools(): Promise<z.infer<typeof tools>>;
  /** Those that have expected calls. */
  tasks(): Promise<readonly Task[]>;
  /** Compares a task's database with gold, and forgets it. */
  end(task: string): Promise<TaskEnd>;
  stop(): Promise<void>;
}

/** `delayMs`: the longest time that a write takes before its effect, and after it. Needs Python and, at its first run, PyPI. */
export async function startService(
  domain: Domain,
  options: { readonly stateDir: string; readonly delayMs: number },
): Promise<TauService> {
  const python = await makePython();
  const child = await startChild({
    name: 'The service of τ²',
    command: python.program,
    args: [join(import.meta.dirname, 'tau2_service.py'), domain, String(options.delayMs)],
    env: childEnvironment(python.env),
    logFile: join(options.stateDir, 'logs', 'tau2.log'),
  });
  const portOf = (): string | undefined => /^port (\d+)$/m.exec(child.output())?.[1];
  const port = await waitUntil(child, portOf, START_MS).catch(async (error: unknown) => {
    await child.stop();
    throw error;
  });
  const url = `http://127.0.0.1:${port}`;
  const ask = async (path: string, method = 'GET'): Promise<unknown> => {
    const response = await fetch(url + path, { method });
    if (!response.ok) throw new Error(`the service of τ² answered ${response.status} to ${path}`);
    return response.json();
  };
  return {
    url,
    tools: async () => tools.parse(await ask('/tools')),
    tasks: async () => tasks.parse(await ask('/tasks')),
    end: async (task) => end.parse(await ask(`/tasks/${task}/end`, 'POST')),
    stop: () => child.stop(),
  };
}
