/**
 * A folder held open, so that operations by name in it cannot be redirected by replacing a folder with a link in
 * between (CVE-2026-44112). Linux reaches it through /proc/self/fd; other systems use the path itself.
 */
import { constants, existsSync } from 'node:fs';
import { type FileHandle, mkdir, open, readlink, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { errnoOf, FileProblem, shown } from './file-problem.ts';
import { ownAs } from './own-as.ts';
import type { SafePath } from './resolve-path.ts';

const HAS_PROC = existsSync('/proc/self/fd');

export interface Folder {
  /** The path of a direct child, or of the folder itself for '', valid while the folder is open. */
  at(name: string): string;
  close(): Promise<void>;
}

/**
 * Opens the folder `absolute` (from resolvePath). Throws errno errors, or FileProblem when it is no longer that folder.
 */
export async function openFolder(absolute: string, requestedPath: string): Promise<Folder> {
  return check(await openDirectory(absolute), absolute, requestedPath);
}

/** Opens the folder that contains `path`, and creates missing ones from the root on when `make` is set. */
export async function openParent(path: SafePath, make: boolean): Promise<{ folder: Folder; name: string }> {
  const parts = path.inside.split('/');
  const name = parts.pop();
  if (name === undefined || name === '')
    throw new FileProblem(
      'InvalidPath',
      `${shown(path.requestedPath) || 'the path'} is a folder, not a file`,
    );
  if (!make) return { folder: await openFolder(join(path.root, ...parts), path.requestedPath), name };
  let at = path.root;
  let folder = await openFolder(at, path.requestedPath);
  for (const part of parts) {
    try {
      const isNew = await makeFolder(folder.at(part));
      at = join(at, part);
      const child = await openDirectory(folder.at(part));
      if (isNew) await ownAs(child, await stat(folder.at('')));
      folder = await check(child, at, path.requestedPath, folder);
    } catch (error) {
      await folder.close();
      throw error;
    }
  }
  return { folder, name };
}

/** False when it exists already. */
async function makeFolder(path: string): Promise<boolean> {
  try {
    await mkdir(path);
    return true;
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false;
    throw error;
  }
}

async function openDirectory(path: string): Promise<FileHandle> {
  return open(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
}

/** The folder `name` in an open one, never through a link. `absolute` is its path. Throws errno errors. */
export async function openChild(parent: Folder, name: string, absolute: string): Promise<Folder> {
  return asFolder(await openDirectory(parent.at(name)), absolute);
}

/** The opened folder must still be the one that was judged. `previous` is closed once its child is open. */
async function check(
  handle: FileHandle,
  absolute: string,
  requestedPath: string,
  previous?: Folder,
): Promise<Folder> {
  if (HAS_PROC) {
    const actual = await readlink(`/proc/self/fd/${handle.fd}`);
    if (actual !== absolute) {
      await handle.close();
      throw new FileProblem('InvalidPath', `${shown(requestedPath)} changed while it was opened; try again`);
    }
  }
  await previous?.close();
  return asFolder(handle, absolute);
}

function asFolder(handle: FileHandle, absolute: string): Folder {
  return {
    at: (name) => (HAS_PROC ? `/proc/self/fd/${handle.fd}/${name}` : join(absolute, name)),
    close: () => handle.close(),
  };
}
