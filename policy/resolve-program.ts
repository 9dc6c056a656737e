/** Which file the shell starts for a name, so that “always” means that file and no other of the same name (SH-2). */
import { realpathSync, statSync } from 'node:fs';
import { isAbsolute, join, relative } from 'node:path';
import type { ResolveProgram } from '@tempoclaw/shell-judge';

export interface ProgramFolders {
  /** PATH of commands, in order. */
  readonly folders: readonly string[];
  /** The folder that agents can write to. */
  readonly workspaceRoot: string;
}

/**
 * Reads the disk each time, so that a file that was put before another one in PATH is seen. When PATH contains a folder
 * relative to the working directory, the result is undefined.
 */
export function createProgramResolver({ folders, workspaceRoot }: ProgramFolders): ResolveProgram {
  const isFixed = folders.length > 0 && folders.every(isAbsolute);
  return (name) => {
    if (!isFixed || name === '') return null;
    if (name.includes('/') && !isAbsolute(name)) return null;
    const path = isAbsolute(name) ? name : folders.map((folder) => join(folder, name)).find(isProgram);
    if (path === undefined || !isProgram(path)) return null;
    const file = realpathSync(path);
    if (isInside(workspaceRoot, path) || isInside(workspaceRoot, file) || isWritableByAll(file)) return null;
    return file === path ? { path } : { path, file };
  };
}

function isProgram(path: string): boolean {
  try {
    const found = statSync(path);
    return found.isFile() && (found.mode & 0o111) !== 0;
  } catch {
    // Missing or unreadable: the shell continues with the next folder.
    return false;
  }
}

function isWritableByAll(path: string): boolean {
  return (statSync(path).mode & 0o002) !== 0;
}

function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== '' && !way.startsWith('..') && !isAbsolute(way);
}
