/** Keeps file tools out of what git obeys: the `.git` of any repository, and folders that are repositories themselves. */
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { isGitInternal } from '@tempoclaw/shell-judge';
import { REPOSITORY_HEAD, REPOSITORY_PARTS } from '#domain/git-internals.ts';
import { errnoOf, FileProblem, shown } from './file-problem.ts';
import type { SafePath } from './resolve-path.ts';

/**
 * Refuses a write that git would obey, and one that would make its folder a repository. The path has no links left; that
 * it is still this path when it is opened is for openFolder to see. @throws FileProblem
 */
export async function guardGit(path: SafePath): Promise<void> {
  if (isGitInternal(path.inside) || (await isInRepository(path))) throw gitProblem(path.requestedPath);
}

/** Commands are not started there either, since what they write by a plain name would be git's. @throws FileProblem */
export function guardGitFolder(path: SafePath): void {
  if (isGitInternal(path.inside)) throw gitProblem(path.requestedPath);
}

function gitProblem(requestedPath: string): FileProblem {
  return new FileProblem(
    'PermissionDenied',
    `${shown(requestedPath)} is one of git's own files, from which git starts programs, so it cannot be written; change it by git itself (exec: git config, git add, git commit), and name what is to be ignored in .gitignore`,
  );
}

/** Some folder on the way is a bare repository, or becomes one by what is made on this path. */
async function isInRepository({ root, inside }: SafePath): Promise<boolean> {
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
