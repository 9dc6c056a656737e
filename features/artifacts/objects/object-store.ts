/**
 * Stores snapshots of workspaces and the bytes of artifacts: objects that are written once, each under a key that
 * contains the SHA-256 of its bytes. There are two implementations: a folder, which machines may share, and a bucket
 * (s3-store.ts).
 */
import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rmdir, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Failure } from '#domain/errors.ts';
import { errnoOf } from '#activities/workspace/file-problem.ts';

/** An unreachable store is a Failure `Unavailable`; a missing object is a Failure `Internal`. */
export interface ObjectStore {
  /** Resolves when the object is durable. Safe to repeat. */
  put(key: string, bytes: Buffer): Promise<void>;
  get(key: string): Promise<Buffer>;
  /** The keys with this prefix, unordered; it includes the remains of a killed `put`. */
  list(prefix: string): AsyncIterable<string>;
  /** Removes at most 1,000 objects; missing ones are ignored. */
  remove(keys: readonly string[]): Promise<void>;
}

export function noObject(key: string): Failure {
  return new Failure('Internal', `the object store has no object ${key}, which a row or a snapshot names`);
}

export function createFolderStore(folder: string): ObjectStore {
  const at = (key: string): string => join(folder, key);
  return {
    put: (key, bytes) =>
      answering(folder, async () => {
        const path = at(key);
        const temporary = `${path}.${randomUUID()}`;
        await mkdir(dirname(path), { recursive: true, mode: 0o700 });
        const file = await open(temporary, 'wx', 0o600);
        try {
          await file.writeFile(bytes);
          await file.sync();
        } finally {
          await file.close();
        }
        await rename(temporary, path);
      }),

    get: (key) =>
      answering(folder, () =>
        readFile(at(key)).catch((error: unknown) => {
          throw errnoOf(error) === 'ENOENT' ? noObject(key) : error;
        }),
      ),

    async *list(prefix) {
      const found = await readdir(at(prefix), { recursive: true, withFileTypes: true }).catch(ignoreMissing);
      for (const entry of found ?? [])
        if (entry.isFile()) yield join(entry.parentPath, entry.name).slice(folder.length + 1);
    },

    remove: (keys) =>
      answering(folder, async () => {
        for (const key of keys) await unlink(at(key)).catch(ignoreMissing);
        // Folders that are now empty, including the workspace's own.
        const folders = new Set(keys.map((key) => dirname(at(key))));
        for (const one of [...folders, ...new Set([...folders].map(dirname))])
          await rmdir(one).catch(ignoreMissing);
      }),
  };
}

function ignoreMissing(error: unknown): undefined {
  if (!['ENOENT', 'ENOTEMPTY'].includes(errnoOf(error) ?? '')) throw error;
}

/** A full or unavailable disk may recover. */
async function answering<Result>(place: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === undefined) throw error;
    throw new Failure('Unavailable', `the object store at ${place} answered ${errno}`);
  }
}
