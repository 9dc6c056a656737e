/** Ends what a start that was killed left running in a state folder, also when nothing is written down of it. */
import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { CliError } from '#cli/cli-error.ts';
import type { ProcessMark } from './process-identity.ts';
import { commandLines, endProcess, isSameProcess, markProcess } from './process-identity.ts';
import type { RunState } from './run-state.ts';
import { readMarks } from './run-state.ts';

/** How long each part gets to end in good order; Postgres flushes, a worker finishes its activities. */
const END_GRACE_MS = 15_000;

/** The order in which parts are ended: users of a service before the service. */
export const END_ORDER = ['api', 'worker', 'temporal', 'postgres'] as const;
type Name = (typeof END_ORDER)[number];

/** Ends the processes that a killed `up` left behind; returns their names. A reused pid is left alone. */
export async function endLeftovers(stateDir: string, state: RunState): Promise<string[]> {
  const marks = readMarks(stateDir);
  const found = findByArguments(stateDir);
  const ended: string[] = [];
  for (const name of END_ORDER) {
    const known = marks[name];
    const others = found.filter((one) => one.name === name && one.mark.pid !== known?.pid);
    for (const mark of [...(known ? [known] : []), ...others.map((one) => one.mark)]) {
      if (!isSameProcess(mark)) continue;
      await end(name, mark);
      ended.push(`${name} (pid ${mark.pid})`);
    }
    state.forget(name);
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

interface Found {
  readonly name: Name;
  readonly mark: ProcessMark;
}

/** Only by what they were started with: a pid or a file may be anybody's. Postgres is found by its own pid file (postgres.ts). */
function findByArguments(stateDir: string): Found[] {
  const folder = realpathSync(stateDir);
  const isPart: Readonly<Record<Exclude<Name, 'postgres'>, (command: string) => boolean>> = {
    api: (command) => command.endsWith(`/api/main.ts ${folder}`),
    worker: (command) => command.endsWith(`/workers/main.ts ${folder}`),
    temporal: (command) => `${command} `.includes(` --db-filename ${join(folder, 'temporal.db')} `),
  };
  return commandLines().flatMap(({ pid, command }) => {
    const name = (['api', 'worker', 'temporal'] as const).find((part) => isPart[part](command));
    const mark = name === undefined ? undefined : markProcess(pid);
    return name === undefined || mark === undefined ? [] : [{ name, mark }];
  });
}
