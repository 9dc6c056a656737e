/**
 * Keeps file tools away from files that git interprets: the `.git` of any repository, and folders that are repositories
 * themselves.
 */
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { isGitInternal } from '@tempoclaw/shell-judge';
import { REPOSITORY_HEAD, REPOSITORY_PARTS } from '#domain/files/git-internals.ts';
import { errnoOf, FileProblem, shown } from './file-problem.ts';

/** A path in a folder that tools may reach. */
export interface PathInRoot {
  /** The root that contains it, without links. */
  readonly root: string;
  /** Relative to the root; empty for the root itself. */
  readonly inside: string;
  /** The path as the model wrote it, for messages. */
  readonly requestedPath: string;
}

/**
 * Refuses a write that git would interpret, and one that would make its folder a repository. The path has no links;
 * openFolder checks that it is still this path when it is opened. @throws FileProblem
 */
export async function guardGit(path: PathInRoot): Promise<void> {
  if (isGitInternal(path.inside) || (await isInRepository(path))) throw gitProblem(path.requestedPath);
}

/**
 * Commands do not start there either, because the files they write by plain names would be git's. @throws FileProblem
 */
export function guardGitFolder(path: PathInRoot): void {
  if (isGitInternal(path.inside)) throw gitProblem(path.requestedPath);
}

function gitProblem(requestedPath: string): FileProblem {
  return new FileProblem(
    'PermissionDenied',
    `${shown(requestedPath)} is one of git's own files, from which git starts programs, so it cannot be written; change it by git itself (exec: git config, git add, git commit), and name what is to be ignored in .gitignore`,
  );
}

/** A folder on the path is a bare repository, or becomes one by what is created at this path. */
async function isInRepository({ root, inside }: PathInRoot): Promise<boolean> {
  let folder = root;
  for (const next of inside.split('/')) {
    if (await isRepository(folder, next)) return true;
    folder = join(folder, next);
  }
  return false;
}

async function isRepository(folder: string, next: string): Promise<boolean> {
  const has = async (name: string): Promise<boolean> =>
    next.toLowerCase() === name.toLowerCase() || exists(join(folder, name));
  if (!(await has(REPOSITORY_HEAD))) return false;
  for (const parts of REPOSITORY_PARTS) {
    const found = await Promise.all(parts.map(has));
    if (found.every(Boolean)) return true;
  }
  return false;
}

async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === 'ENOENT' || errno === 'ENOTDIR') return false;
    throw error;
  }
}
