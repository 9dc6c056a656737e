/**
 * Copies what has changed in a workspace into the store. What runs there is untrusted: no link is followed, and
 * everything is limited.
 */
import { constants } from 'node:fs';
import { lstat, open, readdir, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { FileProblem, fileProblem, errnoOf, shown } from '#activities/workspace/file-problem.ts';
import { type Folder, openChild } from '#activities/workspace/open-folder.ts';
import { isTemporary } from '#activities/workspace/replace-file.ts';
import {
  CHUNK_BYTES,
  digestOf,
  eachOf,
  type Entry,
  type FileEntry,
  type FolderEntry,
  MODE,
  type Objects,
  seenOf,
  writeListing,
} from './tree.ts';

/** Limits of a workspace that follows the work; more is reported, and not stored. */
export const SNAPSHOT_LIMITS = { fileBytes: 1024 ** 3, entries: 100_000, depth: 100 } as const;
export type SnapshotLimits = { readonly [Limit in keyof typeof SNAPSHOT_LIMITS]: number };

/** Files that are checked, and read, at once. */
const AT_ONCE = 16;
/** Two changes within one tick of the file system's clock (10 ms) cannot be told apart. */
const TICK_MS = 20;

export interface Scan {
  readonly objects: Objects;
  readonly limits: SnapshotLimits;
}

interface Place {
  readonly folder: Folder;
  /** Path from the workspace; '' for itself. */
  readonly inside: string;
  readonly absolute: string;
  readonly depth: number;
}

/**
 * The current folder; its new pieces are being sent to the store. With `only`, which has relative paths, everything
 * else is assumed to be as in `old`. Sockets, pipes and devices cannot be in a snapshot and are omitted. @throws
 * FileProblem for what cannot be stored
 */
export async function scanWorkspace(
  scan: Scan,
  folder: Folder,
  absolute: string,
  old: FolderEntry | undefined,
  only: readonly string[] | undefined,
): Promise<FolderEntry> {
  return scanFolder(scan, { folder, absolute, inside: '', depth: 0 }, MODE, old, only);
}

async function scanFolder(
  scan: Scan,
  place: Place,
  mode: number,
  old: FolderEntry | undefined,
  requests: readonly string[] | undefined,
): Promise<FolderEntry> {
  const { limits, objects } = scan;
  if (place.depth > limits.depth) throw tooMuch(place.inside, `is more than ${limits.depth} folders deep`);
  const only = old ? requests : undefined;
  const names = only ? new Set(only.map((path) => firstOf(path))) : await namesIn(place);
  const entries = new Map(only ? old?.entries : []);
  const folders: (readonly [name: string, mode: number])[] = [];
  await eachOf(names, AT_ONCE, async (name) => {
    const found = await entryOf(scan, place, name, old?.entries.get(name));
    if (found?.kind === 'folder') folders.push([name, found.mode]);
    else if (found) entries.set(name, found);
    else entries.delete(name);
  });
  // They run one after the other, because each holds its folder open.
  for (const [name, below] of folders) {
    const known = old?.entries.get(name);
    const paths = only?.flatMap((path) => (firstOf(path) === name ? [path.slice(name.length + 1)] : []));
    const child = await inChild(place, name, (next) =>
      scanFolder(scan, next, below, known?.kind === 'folder' ? known : undefined, paths?.filter(Boolean)),
    );
    if (child) entries.set(name, child);
    else entries.delete(name);
  }
  let count = entries.size;
  for (const entry of entries.values()) count += entry.kind === 'folder' ? entry.count : 0;
  if (count > limits.entries)
    throw tooMuch(
      place.inside,
      `has more than ${limits.entries} files and folders; remove what can be made again`,
    );
  const listing = writeListing(entries);
  const isNew = old === undefined || digestOf(listing) !== old.digest;
  return { kind: 'folder', mode, digest: isNew ? await objects.put(listing) : old.digest, entries, count };
}

/** For a folder, only its mode. Undefined for what is gone, or cannot be in a snapshot. */
async function entryOf(
  scan: Scan,
  place: Place,
  name: string,
  old: Entry | undefined,
): Promise<Exclude<Entry, FolderEntry> | Pick<FolderEntry, 'kind' | 'mode'> | undefined> {
  const path = join(place.inside, name);
  // Bytes that are no UTF-8 are replaced by this character, so the file could not be named again.
  if (name.includes('\ufffd')) throw tooMuch(path, 'has a name that is not UTF-8');
  try {
    const stat = await lstat(place.folder.at(name), { bigint: true });
    const mode = Number(stat.mode) & MODE;
    if (stat.isDirectory()) return { kind: 'folder', mode };
    if (stat.isSymbolicLink()) return { kind: 'link', target: await readlink(place.folder.at(name)) };
    if (!stat.isFile()) return undefined;
    const seen = seenOf(stat);
    const before = old?.kind === 'file' ? old : undefined;
    if (before?.seen === seen) return before;
    if (stat.size > scan.limits.fileBytes)
      throw tooMuch(path, `has ${stat.size} bytes; a file may have ${scan.limits.fileBytes}`);
    const isOver = Date.now() - Number(stat.ctimeMs) > TICK_MS;
    const chunks = await readChunks(scan.objects, place.folder.at(name), before);
    return { kind: 'file', mode, modified: Number(stat.mtimeMs), chunks, seen: isOver ? seen : undefined };
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw fileProblem(error, NOT_KEPT, path);
  }
}

async function readChunks(
  objects: Objects,
  path: string,
  before: FileEntry | undefined,
): Promise<readonly string[]> {
  const known = new Set(before?.chunks);
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const chunks: string[] = [];
    for (;;) {
      const { size } = await file.stat();
      const buffer = Buffer.allocUnsafe(
        Math.max(1, Math.min(CHUNK_BYTES, size - chunks.length * CHUNK_BYTES)),
      );
      const { bytesRead } = await file.read(buffer, 0, buffer.length, chunks.length * CHUNK_BYTES);
      if (bytesRead === 0) return chunks;
      const bytes = buffer.subarray(0, bytesRead);
      const digest = digestOf(bytes);
      chunks.push(known.has(digest) ? digest : await objects.put(bytes));
      if (bytesRead < CHUNK_BYTES) return chunks;
    }
  } finally {
    await file.close();
  }
}

async function namesIn({ folder, inside }: Place): Promise<readonly string[]> {
  try {
    return (await readdir(folder.at(''))).filter((name) => !isTemporary(name));
  } catch (error) {
    throw fileProblem(error, NOT_KEPT, inside || '.');
  }
}

/** Returns undefined when it is no longer a folder. */
async function inChild<Result>(
  { folder, inside, absolute, depth }: Place,
  name: string,
  work: (child: Place) => Promise<Result>,
): Promise<Result | undefined> {
  const path = join(inside, name);
  let child: Folder;
  try {
    child = await openChild(folder, name, join(absolute, name));
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'ELOOP'].includes(errnoOf(error) ?? '')) return undefined;
    throw fileProblem(error, NOT_KEPT, path);
  }
  try {
    return await work({ folder: child, inside: path, absolute: join(absolute, name), depth: depth + 1 });
  } finally {
    await child.close();
  }
}

function firstOf(path: string): string {
  return path.split('/', 1)[0] ?? path;
}

const NOT_KEPT = 'the workspace could not be kept, because of';

function tooMuch(path: string, why: string): FileProblem {
  return new FileProblem('ExecutionFailed', `${NOT_KEPT} ${shown(path || '.')}: it ${why}`);
}
