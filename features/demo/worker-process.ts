/** The local worker's process, as run.json names it: it is found, verified and killed, and its successor is awaited. */
import { setTimeout as sleep } from 'node:timers/promises';
import { CliError } from '#cli/cli-error.ts';
import {
  commandLineOf,
  isSameProcess,
  markProcess,
  type ProcessMark,
} from '@tempoclaw/dev-services/processes';
import { readRunFile, type RunFile } from '#cli/target.ts';

const REMEDY = 'Start TempoClaw here with `npm start`, then try again in the same folder.';

export interface LocalWorker {
  readonly pid: number;
  /** The `up` that starts another worker when this one is killed. */
  readonly up: ProcessMark;
}

/**
 * Throws a CliError when no worker of this folder's `up` is known, the pid is not a worker, or nothing would start
 * another.
 */
export function findWorker(run: RunFile | undefined): LocalWorker {
  const pid = run?.pids?.['worker'];
  if (pid === undefined)
    throw new CliError(
      'The demo kills the worker, so it needs one that `tempoclaw up` started in this folder.',
      { remedy: REMEDY },
    );
  // A pid in a file may now belong to another program, so only a worker is killed.
  if (!/\bworkers[/\\]main\.[jt]s\b/.test(commandLineOf(pid) ?? ''))
    throw new CliError(`Process ${pid}, which ${run?.path} calls the worker, is not one now.`, {
      remedy: REMEDY,
    });
  const up = markProcess(run?.pids?.['up'] ?? 0);
  if (up === undefined)
    throw new CliError('The `tempoclaw up` of this folder has ended: nobody would start another worker.', {
      remedy: REMEDY,
    });
  return { pid, up };
}

/**
 * The pid of the worker that `up` starts instead, as soon as run.json names it; undefined when `signal` comes first.
 * Throws a CliError when `up` ends first.
 */
export async function nextWorker(
  runPath: string,
  old: LocalWorker,
  signal: AbortSignal,
): Promise<number | undefined> {
  while (!signal.aborted) {
    const pid = readRunFile(runPath)?.pids?.['worker'];
    if (pid !== undefined && pid !== old.pid) return pid;
    if (!isSameProcess(old.up))
      throw new CliError(`\`tempoclaw up\` (pid ${old.up.pid}) has ended: nobody starts another worker.`, {
        remedy: 'Start it again with `npm start`: the turn goes on then.',
      });
    await sleep(100, undefined, { signal }).catch(() => undefined);
  }
  return undefined;
}
