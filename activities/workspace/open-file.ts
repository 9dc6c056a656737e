/** Opens a file of a workspace exactly as it was checked, and determines its version. */
import { type BigIntStats, constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { fileDigest } from './change-journal.ts';
import { FileProblem, fileProblem, shown } from './file-problem.ts';
import { type Folder, openParent } from './open-folder.ts';
import { refuseIrregular } from './replace-file.ts';
import type { SafePath } from './resolve-path.ts';

export async function explained<T>(doing: string, path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw fileProblem(error, doing, path);
  }
}

export async function closing<T>(opened: { close(): Promise<void> }, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } finally {
    await opened.close();
  }
}

/** A regular file with one name. O_NONBLOCK: opening a FIFO must not wait for a writer. */
export async function openFile(path: SafePath): Promise<FileHandle> {
  if (path.inside === '')
    throw new FileProblem('InvalidPath', `${shown(path.requestedPath)} is a folder, not a file`);
  const { folder, name } = await openParent(path, false);
  return closing(folder, () => openIn(folder, name, path.requestedPath));
}

/** The same in an open folder. */
export async function openIn(folder: Folder, name: string, requestedPath: string): Promise<FileHandle> {
  const file = await open(
    folder.at(name),
    constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY,
  );
  try {
    refuseIrregular(await file.stat(), 'failed to read file', requestedPath);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** It differs after every change of the file. */
export function versionOf({ ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return fileDigest([ino, size, mtimeNs, ctimeNs].join(' ')).slice(0, 32);
}
