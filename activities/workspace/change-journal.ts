/**
 * DU-2: makes "read, change, write" (edit, append) safe to repeat. Before the change, the digests of the file before
 * and after it are recorded under the call's key; a repeat compares the file with both.
 */
import { createHash } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { errnoOf } from './file-problem.ts';

export interface ChangeJournal {
  /**
   * `fresh`: continue; `done`: an earlier attempt did it; `lost`: it was started and the file is now different from
   * both.
   */
  judge(key: string, current: Buffer | null): Promise<'fresh' | 'done' | 'lost'>;
  /** Called right before the change. */
  note(key: string, before: Buffer | null, after: Buffer): Promise<void>;
}

/** Longer than any activity is retried. */
const KEEP_MS = 24 * 3600 * 1000;
/** Old entries are removed once per this many records. */
const PRUNE_EVERY = 200;

/** `folder` is a private folder; entries are small and are removed after a day. */
export function createChangeJournal(folder: string, now: () => number): ChangeJournal {
  let notes = 0;
  const entry = (key: string): string => join(folder, `${fileDigest(key)}.json`);
  return {
    async judge(key, current) {
      const noted = await readEntry(entry(key));
      if (noted === undefined) return 'fresh';
      const is = fileDigest(current);
      if (is === noted.after) return 'done';
      return is === noted.before ? 'fresh' : 'lost';
    },
    async note(key, before, after) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      if (notes % PRUNE_EVERY === 0) await prune(folder, now() - KEEP_MS);
      notes += 1;
      await writeDurably(
        entry(key),
        JSON.stringify({ before: fileDigest(before), after: fileDigest(after) }),
      );
    },
  };
}

/** Null for a missing file. */
export function fileDigest(content: Buffer | string | null): string {
  return content === null ? 'none' : createHash('sha256').update(content).digest('hex');
}

async function readEntry(path: string): Promise<{ before: string; after: string } | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as { before: string; after: string };
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

async function writeDurably(path: string, text: string): Promise<void> {
  const file = await open(`${path}.tmp`, 'w', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(`${path}.tmp`, path);
}

async function prune(folder: string, before: number): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    try {
      if ((await stat(path)).mtimeMs < before) await unlink(path);
    } catch (error) {
      // Another worker may have pruned it first.
      if (errnoOf(error) !== 'ENOENT') throw error;
    }
  }
}
