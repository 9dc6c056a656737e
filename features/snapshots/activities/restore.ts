/**
 * Makes a workspace equal to a snapshot, whatever it contains. What is equal stays, so that the next restore completes
 * an interrupted one. A file is replaced whole.
 */
import { type BigIntStats, constants } from 'node:fs';
import {
  chmod,
  type FileHandle,
  lstat,
  mkdir,
  open,
  readdir,
  readlink,
  rename,
  rmdir,
  symlink,
  unlink,
} from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { errnoOf } from '#activities/workspace/file-problem.ts';
import { type Folder, openChild } from '#activities/workspace/open-folder.ts';
import { ownAs } from '#activities/workspace/own-as.ts';
import { createFresh, temporaryName } from '#activities/workspace/replace-file.ts';
import {
  CHUNK_BYTES,
  digestOf,
  eachOf,
  type Entry,
  type FileEntry,
  type FolderEntry,
  type Listed,
  MODE,
  type Objects,
  readListing,
  seenOf,
} from './tree.ts';

/** Files that are downloaded at once. */
const AT_ONCE = 8;
/** Permissions that the owner of a folder needs while it is filled. */
const OWNERS = 0o700;
/** Longer than a tick of the file system's clock, so that a later change has a later time. */
const TICK_MS = 20;

interface Restore {
  readonly objects: Objects;
  /** The owner of the restored files. */
  readonly owner: { readonly uid: number; readonly gid: number };
  wrote: boolean;
}

/** `cached` is what was known of the folder, which may be outdated. */
export async function restoreWorkspace(
  objects: Objects,
  folder: Folder,
  absolute: string,
  digest: string,
  cached: FolderEntry | undefined,
): Promise<FolderEntry> {
  const owner = await lstat(folder.at('.'));
  const restore: Restore = { objects, owner, wrote: false };
  const restored = await fill(restore, folder, absolute, { kind: 'folder', mode: MODE, digest }, cached);
  if (restore.wrote) await sleep(TICK_MS);
  return restored;
}

async function fill(
  restore: Restore,
  folder: Folder,
  absolute: string,
  target: Pick<FolderEntry, 'kind' | 'mode' | 'digest'>,
  cached: FolderEntry | undefined,
): Promise<FolderEntry> {
  const expected: ReadonlyMap<string, Listed> =
    cached?.digest === target.digest ? cached.entries : readListing(await restore.objects.get(target.digest));
  for (const name of await readdir(folder.at('')))
    if (!expected.has(name)) await remove(folder, name, absolute);
  const entries = new Map<string, Entry>();
  await eachOf(expected, AT_ONCE, async ([name, entry]) => {
    if (entry.kind === 'link') entries.set(name, await placeLink(folder, name, entry, absolute));
    const known = cached?.entries.get(name);
    if (entry.kind === 'file')
      entries.set(
        name,
        await placeFile(restore, folder, name, entry, known?.kind === 'file' ? known : undefined, absolute),
      );
  });
  // They run one after the other, because each holds its folder open.
  for (const [name, entry] of expected) {
    if (entry.kind !== 'folder') continue;
    const known = cached?.entries.get(name);
    const child = await placeFolder(restore, folder, name, absolute);
    try {
      const path = join(absolute, name);
      const filled = await fill(restore, child, path, entry, known?.kind === 'folder' ? known : undefined);
      entries.set(name, filled);
    } finally {
      await child.close();
    }
    if (Number((await lstatOr(folder, name))?.mode) % (MODE + 1) !== entry.mode)
      await setMode(folder, name, entry.mode);
  }
  let count = entries.size;
  for (const entry of entries.values()) count += entry.kind === 'folder' ? entry.count : 0;
  return { kind: 'folder', mode: target.mode, digest: target.digest, entries, count };
}

async function placeFile(
  restore: Restore,
  folder: Folder,
  name: string,
  entry: FileEntry,
  cached: FileEntry | undefined,
  absolute: string,
): Promise<FileEntry> {
  const found = await lstatOr(folder, name);
  const isSeen = found?.isFile() && cached?.seen === seenOf(found) && sameBytes(cached, entry);
  // Its mode and time belong to how it was seen only if they are the wanted ones.
  if (isSeen && cached.mode === entry.mode && cached.modified === entry.modified) return cached;
  if (found && !found.isFile()) await remove(folder, name, absolute);
  restore.wrote = true;
  if (found?.isFile() && (isSeen || (await hasBytes(folder, name, entry)))) {
    const file = await open(
      folder.at(name),
      constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
    );
    try {
      await file.chmod(entry.mode);
      await setTime(file, entry.modified);
    } finally {
      await file.close();
    }
  } else await fetchFile(restore, folder, name, entry);
  return { ...entry, seen: seenOf(await lstat(folder.at(name), { bigint: true })) };
}

function sameBytes(one: FileEntry, other: FileEntry): boolean {
  return (
    one.chunks.length === other.chunks.length && one.chunks.every((chunk, n) => chunk === other.chunks[n])
  );
}

/** Compares piece by piece, until a difference. Also returns false for an unreadable file. */
async function hasBytes(folder: Folder, name: string, { chunks }: FileEntry): Promise<boolean> {
  try {
    const file = await open(
      folder.at(name),
      constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
    );
    return await areBytes(file, chunks).finally(() => file.close());
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return false;
  }
}

async function areBytes(file: FileHandle, chunks: FileEntry['chunks']): Promise<boolean> {
  const { size, nlink } = await file.stat();
  if (nlink > 1 || Math.ceil(size / CHUNK_BYTES) !== chunks.length) return false;
  for (const [n, chunk] of chunks.entries()) {
    const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, size - n * CHUNK_BYTES));
    const { bytesRead } = await file.read(buffer, 0, buffer.length, n * CHUNK_BYTES);
    if (digestOf(buffer.subarray(0, bytesRead)) !== chunk) return false;
  }
  return true;
}

async function fetchFile(
  { objects, owner }: Restore,
  folder: Folder,
  name: string,
  { chunks, mode, modified }: FileEntry,
): Promise<void> {
  const temporary = temporaryName(`restore\0${name}`);
  const file = await createFresh(folder.at(temporary));
  try {
    for (const [n, chunk] of chunks.entries()) {
      const bytes = await objects.get(chunk);
      await file.write(bytes, 0, bytes.length, n * CHUNK_BYTES);
    }
    await ownAs(file, owner);
    await file.chmod(mode);
    await setTime(file, modified);
  } finally {
    await file.close();
  }
  await rename(folder.at(temporary), folder.at(name));
}

/**
 * A tenth of a millisecond more: seconds in a double may be slightly less, and would be read as the previous
 * millisecond.
 */
async function setTime(file: FileHandle, modified: number): Promise<void> {
  const seconds = (modified + 0.1) / 1000;
  await file.utimes(seconds, seconds);
}

async function placeLink<Link extends Extract<Listed, { kind: 'link' }>>(
  folder: Folder,
  name: string,
  link: Link,
  absolute: string,
): Promise<Link> {
  const found = await lstatOr(folder, name);
  if (found?.isSymbolicLink() && (await readlink(folder.at(name))) === link.target) return link;
  if (found) await remove(folder, name, absolute);
  await symlink(link.target, folder.at(name));
  return link;
}

/** The folder is held open, and its owner has all permissions in it. */
async function placeFolder(
  { owner }: Restore,
  folder: Folder,
  name: string,
  absolute: string,
): Promise<Folder> {
  const found = await lstatOr(folder, name);
  if (found && !found.isDirectory()) await remove(folder, name, absolute);
  if (found?.isDirectory()) {
    if ((Number(found.mode) & OWNERS) !== OWNERS) await setMode(folder, name, OWNERS);
  } else {
    await mkdir(folder.at(name), OWNERS);
    const made = await open(
      folder.at(name),
      constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW,
    );
    await ownAs(made, owner).finally(() => made.close());
  }
  return openChild(folder, name, join(absolute, name));
}

/** Removes it with everything below it, through no link: a folder is held open while it is emptied. */
async function remove(folder: Folder, name: string, absolute: string): Promise<void> {
  try {
    if (!(await lstat(folder.at(name))).isDirectory()) return await unlink(folder.at(name));
    await setMode(folder, name, OWNERS);
    const child = await openChild(folder, name, join(absolute, name));
    try {
      for (const below of await readdir(child.at(''))) await remove(child, below, join(absolute, name));
    } finally {
      await child.close();
    }
    await rmdir(folder.at(name));
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
  }
}

async function setMode(folder: Folder, name: string, mode: number): Promise<void> {
  try {
    const held = await open(
      folder.at(name),
      constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW,
    );
    await held.chmod(mode).finally(() => held.close());
  } catch (error) {
    // It may not even be readable. Then we are not root, and commands run as the same user, so by its name they could
    // change as much.
    if (errnoOf(error) !== 'EACCES') throw error;
    await chmod(folder.at(name), mode);
  }
}

async function lstatOr(folder: Folder, name: string): Promise<BigIntStats | undefined> {
  try {
    return await lstat(folder.at(name), { bigint: true });
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}
