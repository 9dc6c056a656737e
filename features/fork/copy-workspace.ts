/**
 * Copies a workspace for a fork. What runs in a workspace is untrusted: no link is followed, everything is limited, and
 * folders are held open, so that none is replaced by a link in between. Where the file system can, a copy shares its
 * blocks with the original until one of both changes.
 */
import { constants } from 'node:fs';
import {
  chmod,
  copyFile,
  lchown,
  lstat,
  lutimes,
  mkdir,
  open,
  readdir,
  readlink,
  symlink,
} from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { errnoOf } from '#activities/workspace/file-problem.ts';
import { type Folder, openChild, openFolder } from '#activities/workspace/open-folder.ts';
import { isTemporary } from '#activities/workspace/replace-file.ts';
import { contains } from '#activities/workspace/resolve-path.ts';
import { Failure } from '#domain/errors.ts';

/** Sums over the whole workspace; `seconds` is the time that the copy may take. */
export interface CopyLimits {
  readonly files: number;
  readonly fileBytes: number;
  readonly depth: number;
  readonly seconds: number;
}

export interface CopiedWorkspace {
  /** Files, folders and links. */
  readonly files: number;
  readonly bytes: number;
}

/** Our own files are of the folder that they were made in. */
const OWN = '.tempoclaw';
/** Files copied at once: file operations of Node have four threads. */
const AT_ONCE = 8;
const MODE = 0o7777;
/** As root we copy the files of the user that commands run as. */
const isRoot = process.geteuid?.() === 0;

interface Copy {
  readonly from: string;
  /** Where the copy will be: links into the original lead there. */
  readonly as: string;
  readonly limits: CopyLimits;
  readonly signal: AbortSignal;
  readonly until: number;
  files: number;
  bytes: number;
}

interface Place {
  readonly folder: Folder;
  /** Path from the workspace; '' for itself. */
  readonly inside: string;
  readonly to: string;
  readonly depth: number;
}

/**
 * `to` must not exist; it is complete when this resolves, and a part of it is there when it rejects. Sockets, pipes and
 * devices are left out. @throws Failure TooLarge
 */
export async function copyWorkspace(
  from: string,
  to: string,
  { as, limits, signal }: Pick<Copy, 'as' | 'limits' | 'signal'>,
): Promise<CopiedWorkspace> {
  const copy: Copy = {
    from,
    as,
    limits,
    signal,
    until: Date.now() + limits.seconds * 1000,
    files: 0,
    bytes: 0,
  };
  const folder = await openFolder(from, 'the workspace');
  try {
    await copyFolder(copy, { folder, inside: '', to, depth: 0 });
  } finally {
    await folder.close();
  }
  return { files: copy.files, bytes: copy.bytes };
}

async function copyFolder(copy: Copy, place: Place): Promise<void> {
  const { folder, inside, to, depth } = place;
  if (depth > copy.limits.depth) throw tooLarge(`${inside} is more than ${copy.limits.depth} folders deep`);
  // Its own mode comes last, because it may forbid us to write.
  await mkdir(to, { mode: 0o700 });
  const names = (await readdir(folder.at(''))).filter(
    (name) => !isTemporary(name) && (inside !== '' || name !== OWN),
  );
  const folders: string[] = [];
  for (let first = 0; first < names.length; first += AT_ONCE)
    await Promise.all(
      names.slice(first, first + AT_ONCE).map(async (name) => {
        if (await copyEntry(copy, place, name)) folders.push(name);
      }),
    );
  // One after the other, because each holds its folder open.
  for (const name of folders) await inChild(copy, place, name);
  const { mode, uid, gid, atimeMs, mtimeMs } = await lstat(folder.at('.'));
  if (isRoot) await lchown(to, uid, gid);
  await chmod(to, mode & MODE);
  await lutimes(to, atimeMs / 1000, mtimeMs / 1000);
}

async function inChild(copy: Copy, { folder, inside, to, depth }: Place, name: string): Promise<void> {
  const path = join(inside, name);
  let child: Folder;
  try {
    child = await openChild(folder, name, join(copy.from, path));
  } catch (error) {
    if (isGone(error)) return;
    throw error;
  }
  try {
    await copyFolder(copy, { folder: child, inside: path, to: join(to, name), depth: depth + 1 });
  } finally {
    await child.close();
  }
}

/** True for a folder, which is not copied yet. What is gone by now is left out. */
async function copyEntry(copy: Copy, { folder, inside, to }: Place, name: string): Promise<boolean> {
  checkLimits(copy);
  const source = folder.at(name);
  const target = join(to, name);
  try {
    const found = await lstat(source);
    if (found.isDirectory()) {
      copy.files += 1;
      return true;
    }
    if (found.isSymbolicLink()) {
      await symlink(linkInCopy(copy, inside, await readlink(source)), target);
      if (isRoot) await lchown(target, found.uid, found.gid);
      copy.files += 1;
    } else if (found.isFile()) await copyContent(copy, source, target);
    return false;
  } catch (error) {
    if (isGone(error)) return false;
    throw error;
  }
}

async function copyContent(copy: Copy, source: string, target: string): Promise<void> {
  const file = await open(source, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const { size, mode, uid, gid, atimeMs, mtimeMs } = await file.stat();
    copy.files += 1;
    copy.bytes += size;
    checkLimits(copy);
    // The file that was opened, whatever has its name by now.
    const opened = source.startsWith('/proc/') ? `/proc/self/fd/${file.fd}` : source;
    await copyFile(opened, target, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
    if (isRoot) await lchown(target, uid, gid);
    await chmod(target, mode & MODE);
    await lutimes(target, atimeMs / 1000, mtimeMs / 1000);
  } finally {
    await file.close();
  }
}

/** A link into the original would let the fork change it. */
function linkInCopy({ from, as }: Copy, inside: string, target: string): string {
  const end = resolve(dirname(join(as, inside, 'link')), target);
  if (!contains(from, end)) return target;
  const own = join(as, relative(from, end));
  return isAbsolute(target) ? own : relative(join(as, inside), own) || '.';
}

function checkLimits({ files, bytes, limits, until, signal }: Copy): void {
  signal.throwIfAborted();
  if (files > limits.files) throw tooLarge(`it has more than ${limits.files} files and folders`);
  if (bytes > limits.fileBytes) throw tooLarge(`it has more than ${limits.fileBytes} bytes`);
  if (Date.now() > until) throw tooLarge(`it takes more than ${limits.seconds} seconds`);
}

function tooLarge(why: string): Failure {
  return new Failure(
    'TooLarge',
    `The workspace cannot be copied for a fork: ${why}; remove what can be made again, such as builds and caches`,
  );
}

function isGone(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR', 'ELOOP'].includes(errnoOf(error) ?? '');
}
