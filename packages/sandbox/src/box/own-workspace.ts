/**
 * The owner of the workspace's files. A worker that is not root runs containers as its own user. One that is root must
 * not: it gives the files to a user of containers. Files that are created later must get their folder's owner.
 */
import { constants } from 'node:fs';
import { type FileHandle, lchown, lstat, mkdir, open, opendir } from 'node:fs/promises';
import { dirname } from 'node:path';

/** An id that distributions assign to nobody. */
const BOX_ID = 10_001;
/** Deeper folders keep their owner; no project has them. */
const MAX_DEPTH = 100;

export interface BoxUser {
  readonly uid: number;
  readonly gid: number;
}

/** For its owner only. The folders above can be passed but not listed, because a container may run as another user. */
export async function makeWorkspace(folder: string): Promise<void> {
  await mkdir(dirname(folder), { recursive: true, mode: 0o711 });
  await mkdir(folder, { recursive: true, mode: 0o700 });
}

/** The user of a container over the workspace. */
export async function boxUser(workspace: string, rootless: boolean): Promise<BoxUser> {
  // A rootless engine's root is the user that runs the engine.
  if (rootless) return { uid: 0, gid: 0 };
  const uid = process.geteuid?.() ?? 0;
  if (uid !== 0) return { uid, gid: process.getegid?.() ?? uid };
  const owner = await lstat(workspace);
  return owner.uid === 0 ? { uid: BOX_ID, gid: BOX_ID } : { uid: owner.uid, gid: owner.gid };
}

/** Gives the files to that user; only root can, and only root has to. */
export async function ownWorkspace(workspace: string, user: BoxUser): Promise<void> {
  if (process.geteuid?.() !== 0 || user.uid === 0) return;
  const folder = await openFolder(workspace);
  if (folder !== undefined) await give(folder, user, 0);
}

/**
 * Every folder is held open while the owner of its entries is changed: another container may replace a folder by a link
 * meanwhile, and root must not follow it. Closes the folder.
 */
async function give(folder: FileHandle, user: BoxUser, depth: number): Promise<void> {
  try {
    const stat = await folder.stat();
    if (stat.uid !== user.uid) await folder.chown(user.uid, user.gid);
    const at = `/proc/self/fd/${folder.fd}`;
    for await (const entry of await opendir(at)) {
      const path = `${at}/${entry.name}`;
      const inner = entry.isDirectory() && depth < MAX_DEPTH ? await openFolder(path) : undefined;
      await (inner === undefined ? giveEntry(path, user) : give(inner, user, depth + 1));
    }
  } finally {
    await folder.close();
  }
}

async function giveEntry(path: string, { uid, gid }: BoxUser): Promise<void> {
  try {
    const stat = await lstat(path);
    // The other name of a file may be outside.
    if (stat.uid !== uid && (stat.nlink === 1 || stat.isDirectory())) await lchown(path, uid, gid);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

/** Undefined when it is not a folder (any more). */
async function openFolder(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP') return undefined;
    throw error;
  }
}
