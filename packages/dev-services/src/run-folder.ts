/**
 * What a program that starts others leaves in its state folder: the lock that allows one of it, and run.json for
 * programs, with the pids of its parts.
 */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LockPlace } from './state-lock.ts';
import { releaseLock, takeLock } from './state-lock.ts';

/** The contents of run.json. The file is 0600. */
export type RunInfo<Info extends object> = Info & { readonly pids: Readonly<Record<string, number>> };

/** None of its methods throws: what cannot be written (a full disk) is written as soon as possible. */
export interface RunFolder<Info extends object> {
  /** Records a started process, until it is forgotten or replaced under the same name. */
  remember(name: string, pid: number): void;
  forget(name: string): void;
  publish(info: Info): void;
  /** Removes run.json and the lock. */
  release(): void;
}

/** How often a write that failed is tried again. */
const AGAIN_MS = 1_000;

/**
 * Takes the folder for this process; undefined when a running program of this name has it. Throws the system's error
 * when the folder cannot be made or written.
 */
export async function takeRunFolder<Info extends object>(
  place: LockPlace,
): Promise<RunFolder<Info> | undefined> {
  const { folder, name } = place;
  const file = join(folder, 'run.json');
  // As root, Postgres runs as another user and must pass through; each secret file is 0600 by itself.
  mkdirSync(folder, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 });
  if (!(await takeLock(place))) return undefined;
  // This file is of a killed start, whose addresses are not ours.
  rmSync(file, { force: true });
  const pids = new Map([[name, process.pid]]);
  let info: Info | undefined;
  let again: NodeJS.Timeout | undefined;
  const save = (): void => {
    clearTimeout(again);
    if (info === undefined) return;
    try {
      writeWhole(file, { ...info, pids: Object.fromEntries(pids) });
    } catch {
      // The previous file stays whole.
      again = setTimeout(save, AGAIN_MS).unref();
    }
  };
  return {
    remember(part, pid) {
      pids.set(part, pid);
      save();
    },
    forget(part) {
      pids.delete(part);
      save();
    },
    publish(next) {
      info = next;
      save();
    },
    release() {
      clearTimeout(again);
      try {
        rmSync(file, { force: true });
        releaseLock(place);
      } catch {
        // The folder can no longer be written; the lock ends with this process anyway.
      }
    },
  };
}

/** What run.json says, if it exists and is whole. */
export function readRunInfo<Info extends object>(folder: string): Partial<RunInfo<Info>> | undefined {
  try {
    const content: unknown = JSON.parse(readFileSync(join(folder, 'run.json'), 'utf8'));
    return typeof content === 'object' && content !== null ? (content as Partial<RunInfo<Info>>) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError || (error instanceof Error && 'code' in error)) return undefined;
    throw error;
  }
}

/** Writes aside and renames, so that a reader never sees half a file. */
function writeWhole(file: string, value: unknown): void {
  writeFileSync(`${file}.new`, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}
