/**
 * Files that come with a result on which other work builds (DE-2). They are the files of its agent's workspace that the
 * result names, and those in the folder that its delegation received, in their present state.
 */
import { DELEGATION_LIMITS } from '#domain/assignment/delegation.ts';
import { namedFiles } from '#domain/files/named-files.ts';
import { isGits, type PassedFile } from './pass-files.ts';
import { FileProblem } from '../workspace/file-problem.ts';
import type { Files } from '../workspace/contract.ts';

export interface Dependency {
  /** Id of the delegation. */
  readonly id: string;
  readonly result: string;
  /** The folder of its agent; undefined when the agent no longer exists. */
  readonly workspace: string | undefined;
  readonly workspaceFrom?: string | undefined;
}

/**
 * Files that do not fit with `passed`, conflict with another file or belong to git are left out and named, because the
 * giver cannot know which files exist.
 */
export async function readDependencyFiles(
  files: Pick<Files, 'readBytes' | 'list'>,
  dependencies: readonly Dependency[],
  passed: readonly PassedFile[],
): Promise<{ readonly read: readonly PassedFile[]; readonly leftOut: readonly string[] }> {
  const read: PassedFile[] = [];
  const leftOut: string[] = [];
  let places = DELEGATION_LIMITS.files - passed.length;
  let bytes = DELEGATION_LIMITS.filesBytes - passed.reduce((sum, file) => sum + file.bytes.length, 0);
  for (const { id, result, workspace, workspaceFrom } of dependencies) {
    if (workspace === undefined) continue;
    const scope = { workspace, workspaceFrom, idempotencyKey: id };
    const folder = `delegated/${id}/`;
    for (const path of await pathsOf(files, scope, folder, result)) {
      const name = `${id}/${path.startsWith(folder) ? path.slice(folder.length) : path}`;
      const found = await thereOrNot(() => files.readBytes(scope, path, Math.max(0, bytes)));
      if (found === 'not there') continue;
      const isTaken = read.some((other) => isInTheWay(other.name, name));
      if (found === undefined || places === 0 || isTaken || isGits(name)) {
        leftOut.push(`${path} of ${id}`);
        continue;
      }
      read.push({ name, bytes: found });
      places -= 1;
      bytes -= found.length;
    }
  }
  return { read, leftOut };
}

/** Two files cannot have one path, nor one be below the other. */
function isInTheWay(one: string, other: string): boolean {
  return one === other || one.startsWith(`${other}/`) || other.startsWith(`${one}/`);
}

async function pathsOf(
  files: Pick<Files, 'list'>,
  scope: Parameters<Files['list']>[0],
  folder: string,
  result: string,
): Promise<ReadonlySet<string>> {
  const inFolder = await thereOrNot(() => files.list(scope, folder, DELEGATION_LIMITS.files));
  const entries = inFolder === 'not there' ? [] : inFolder.entries;
  return new Set([
    ...namedFiles(result),
    ...entries.filter(({ kind }) => kind === 'file').map(({ name }) => `${folder}${name}`),
  ]);
}

/** A word that names no readable file is only a word. */
async function thereOrNot<Result>(probe: () => Promise<Result>): Promise<Result | 'not there'> {
  try {
    return await probe();
  } catch (error) {
    if (error instanceof FileProblem) return 'not there';
    throw error;
  }
}
