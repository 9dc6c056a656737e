/** Ends what a killed start left running in a state folder. */
import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { CliError } from '#cli/cli-error.ts';
import { isPostgresOf } from './postgres/postgres.ts';
import type { ProcessMark } from './process-identity.ts';
import { commandLines, endProcess, markProcess } from './process-identity.ts';

/** How long each part gets to end in good order: Postgres flushes, a worker finishes its activities. */
const END_GRACE_MS = 15_000;

/** The order in which parts are ended: users of a service before the service. */
export const END_ORDER = ['api', 'worker', 'temporal', 'postgres'] as const;
type Name = (typeof END_ORDER)[number];

/**
 * Ends the processes that a killed `up` left behind; returns their names. It recognizes them only by their command
 * line, because a recorded pid may now belong to any process.
 */
export async function endLeftovers(stateDir: string): Promise<string[]> {
  const folder = realpathSync(stateDir);
  const isPart: Readonly<Record<Name, (command: string) => boolean>> = {
    api: (command) => command.endsWith(`/api/main.ts ${folder}`),
    worker: (command) => command.endsWith(`/workers/main.ts ${folder}`),
    temporal: (command) => `${command} `.includes(` --db-filename ${join(folder, 'temporal.db')} `),
    postgres: isPostgresOf(stateDir),
  };
  const ended: string[] = [];
  const all = commandLines();
  for (const name of END_ORDER)
    for (const { pid } of all.filter(({ command }) => isPart[name](command))) {
      const mark = markProcess(pid);
      if (mark === undefined) continue;
      await end(name, mark);
      ended.push(`${name} (pid ${pid})`);
    }
  return ended;
}

async function end(name: Name, mark: ProcessMark): Promise<void> {
  try {
    await endProcess(mark, name === 'postgres' ? 'SIGINT' : 'SIGTERM', END_GRACE_MS);
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    throw new CliError(`A ${name} of a former start (pid ${mark.pid}) cannot be ended: ${words}`, {
      code: 'LeftRunning',
      remedy: `End process ${mark.pid}, then start again.`,
    });
  }
}
