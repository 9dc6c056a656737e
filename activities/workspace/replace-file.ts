/** Atomic replacement of a whole file: temporary file, fsync, rename in the same open folder. */
import { createHash } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { type FileHandle, lstat, open, rename, stat, unlink } from 'node:fs/promises';
import { errnoOf, FileProblem, shown } from './file-problem.ts';
import type { Folder } from './open-folder.ts';
import { ownAs } from './own-as.ts';

const PREFIX = '.tempoclaw-';
const SUFFIX = '.tmp';
const PROGRAM = 0o755;

/** Recognizes our own temporary files, which a killed worker may leave; they are never listed. */
export function isTemporary(name: string): boolean {
  return name.startsWith(PREFIX) && name.endsWith(SUFFIX);
}

/** `key` identifies the attempt: a repeat uses what a killed one left behind. */
export function temporaryName(key: string): string {
  return `${PREFIX}${createHash('sha256').update(key).digest('hex').slice(0, 24)}${SUFFIX}`;
}

export type LastStep = (put: () => Promise<void>) => Promise<void>;

/** Replaces `name` by `content`. The mode and the owner of an old file are kept. */
export async function replaceFile(
  folder: Folder,
  name: string,
  content: Buffer | AsyncIterable<Buffer>,
  key: string,
  requestedPath: string,
  /**
   * `mode` is for a copy that can be written again: it sets this mode and does not wait for the disk. `isProgram` makes
   * a file that can be started. `last` wraps the last check of the old file and the rename, during which nobody else
   * changes it. It may throw, and then nothing is changed.
   */
  {
    mode,
    isProgram,
    last = (put) => put(),
  }: {
    readonly mode?: number;
    readonly isProgram?: boolean | undefined;
    readonly last?: LastStep;
  } = {},
): Promise<{ created: boolean }> {
  const old = await existing(folder, name, requestedPath);
  const temporary = temporaryName(`${key}\0${name}`);
  const file = await createFresh(folder.at(temporary));
  try {
    try {
      await file.writeFile(content);
      await ownAs(file, old ?? (await stat(folder.at(''))));
      if (mode !== undefined) await file.chmod(mode);
      else if (isProgram) await file.chmod(PROGRAM);
      else if (old !== undefined) await file.chmod(old.mode & 0o7777);
      if (mode === undefined) await file.sync();
    } finally {
      await file.close();
    }
    await last(() => rename(folder.at(temporary), folder.at(name)));
  } catch (error) {
    await unlink(folder.at(temporary)).catch((second: unknown) => {
      if (errnoOf(second) !== 'ENOENT') throw error;
    });
    throw error;
  }
  return { created: old === undefined };
}

/** The file at `name` itself, not through a link. Refuses anything that is not a regular file. */
export async function existing(
  folder: Folder,
  name: string,
  requestedPath: string,
): Promise<Stats | undefined> {
  try {
    const found = await lstat(folder.at(name));
    refuseIrregular(found, 'failed to write file', requestedPath);
    return found;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Only regular files with one name are read or written. @throws FileProblem */
export function refuseIrregular(found: Stats, doing: string, requestedPath: string): void {
  const refuse = (code: 'InvalidPath' | 'PermissionDenied', why: string): never => {
    throw new FileProblem(code, `${doing} ${shown(requestedPath)}: ${why}`);
  };
  if (found.isDirectory()) refuse('InvalidPath', 'it is a folder; list_files shows what is in it');
  if (!found.isFile()) refuse('InvalidPath', 'it is not a regular file');
  if (found.nlink > 1)
    refuse('PermissionDenied', 'it has a second name (hard link), which may be outside the workspace');
}

/** Never through a link. */
export async function createFresh(path: string): Promise<FileHandle> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  try {
    return await open(path, flags, 0o666);
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error;
    await unlink(path);
    return open(path, flags, 0o666);
  }
}
