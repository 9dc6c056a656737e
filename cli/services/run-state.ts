/**
 * What `tempoclaw up` leaves on disk: the lock that allows one `up` for each state folder, and run.json for programs,
 * with the pids of its parts.
 */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDiskFull } from '#domain/files/disk-full.ts';
import type { RunsAt } from '#domain/sandbox.ts';
import { CliError } from '#cli/cli-error.ts';
import { lockHolder, releaseLock, takeLock } from './state-lock.ts';

/**
 * The contents of run.json: where everything is, for programs. `database_url` contains a password; the file is 0600.
 */
export interface RunInfo {
  readonly api: string | null;
  /** The same over a Unix socket in a folder of ours: whatever answers there is the API. */
  readonly api_socket: string | null;
  readonly temporal: string;
  readonly temporal_ui: string | null;
  readonly namespace: string;
  readonly task_queue: string;
  readonly database_url: string;
  readonly api_key_file: string;
  /** Where commands run for agents that do not choose a place. */
  readonly runs?: RunsAt | undefined;
  readonly pids: Readonly<Record<string, number>>;
}

/** The part of run.json that other modules provide. */
export type PublishedInfo = Omit<RunInfo, 'pids'>;

/** None of its methods throws: what cannot be written (a full disk) is written as soon as possible. */
export interface RunState {
  /** Records a started process, until it is forgotten or replaced under the same name. */
  remember(name: string, pid: number): void;
  forget(name: string): void;
  publish(info: PublishedInfo): void;
  /** Removes run.json and the lock. */
  release(): void;
}

/** The state of a stack that starts nothing. */
export const UNKEPT: RunState = {
  remember: () => undefined,
  forget: () => undefined,
  publish: () => undefined,
  release: () => undefined,
};

/** How often a write that failed is tried again. */
const AGAIN_MS = 1_000;

/**
 * Takes the state folder for this process; undefined when a running `up` has it. Throws a CliError when it cannot be
 * made or written.
 */
export async function takeStateFolder(stateDir: string): Promise<RunState | undefined> {
  try {
    // As root, Postgres runs as another user and must pass through; each secret file is 0600 by itself.
    mkdirSync(stateDir, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 });
    if (!(await takeLock(stateDir))) return undefined;
    // This file is of a killed start, whose addresses are not ours.
    rmSync(join(stateDir, 'run.json'), { force: true });
  } catch (error) {
    throw unusable(stateDir, error);
  }
  const pids = new Map([['up', process.pid]]);
  let info: PublishedInfo | undefined;
  let again: NodeJS.Timeout | undefined;
  const save = (): void => {
    clearTimeout(again);
    if (info === undefined) return;
    try {
      writeWhole(join(stateDir, 'run.json'), { ...info, pids: Object.fromEntries(pids) });
    } catch {
      // /readyz reports a folder that cannot be written; the previous file stays whole.
      again = setTimeout(save, AGAIN_MS).unref();
    }
  };
  return {
    remember(name, pid) {
      pids.set(name, pid);
      save();
    },
    forget(name) {
      pids.delete(name);
      save();
    },
    publish(next) {
      info = next;
      save();
    },
    release() {
      clearTimeout(again);
      try {
        rmSync(join(stateDir, 'run.json'), { force: true });
        releaseLock(stateDir);
      } catch {
        // The folder can no longer be written; the lock ends with this process anyway.
      }
    },
  };
}

/** What run.json says, if it exists and is whole. */
export function readRunInfo(stateDir: string): Partial<RunInfo> | undefined {
  try {
    const content: unknown = JSON.parse(readFileSync(join(stateDir, 'run.json'), 'utf8'));
    return typeof content === 'object' && content !== null ? (content as Partial<RunInfo>) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError || (error instanceof Error && 'code' in error)) return undefined;
    throw error;
  }
}

/** The pid of the `up` that holds the folder now. */
export function runningUp(stateDir: string): number | undefined {
  return lockHolder(stateDir);
}

function unusable(stateDir: string, error: unknown): unknown {
  if (!(error instanceof Error && 'code' in error)) return error;
  const isFile = error.code === 'EEXIST' || error.code === 'ENOTDIR';
  const why = isDiskFull(error) ? 'its disk is full' : isFile ? 'it is a file, or below one' : error.message;
  return new CliError(`The state folder ${stateDir} cannot be written: ${why}.`, {
    code: 'StateFolder',
    remedy: isDiskFull(error)
      ? 'Free some space on that disk, or give --state-dir (or TEMPOCLAW_STATE_DIR) a folder on another one.'
      : 'Give --state-dir (or TEMPOCLAW_STATE_DIR) a folder that you may write.',
  });
}

/** Writes aside and renames, so that a reader never sees half a file. */
function writeWhole(file: string, value: unknown): void {
  writeFileSync(`${file}.new`, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}
