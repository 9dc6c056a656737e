/** Files that are passed with delegated work: read in the giver's workspace, written into the target's (DE-2). */
import { basename } from 'node:path';
import { isGitInternal } from '@tempoclaw/shell-judge';
import { DELEGATION_LIMITS } from '#domain/assignment/delegation.ts';
import { REPOSITORY_HEAD } from '#domain/files/git-internals.ts';
import { type ToolFailure, toolError } from '#domain/tool.ts';
import { type Scrubber, withoutSecrets } from '#store/secrets/scrubber.ts';
import { withFileProblems } from '../workspace/file-problem.ts';
import type { Files, FileScope } from '../workspace/contract.ts';

export interface PassedFile {
  /** Path below the folder of the delegation; for files of a dependency it contains further folders. */
  readonly name: string;
  readonly bytes: Buffer;
}

/** Says which file cannot be passed on, and why. */
export async function readPassedFiles(
  files: Pick<Files, 'readBytes'>,
  paths: readonly string[],
  scope: FileScope,
): Promise<readonly PassedFile[] | ToolFailure> {
  return withFileProblems(async () => {
    const read = new Map<string, PassedFile>();
    let remaining: number = DELEGATION_LIMITS.filesBytes;
    for (const path of paths) {
      const name = basename(path);
      if (isGits(name))
        return refused(`"${name}" is one of git's own files, which git would obey at its new place`);
      if (read.has(name)) return refused(`two of the files are named "${name}"`);
      const bytes = await files.readBytes(scope, path, remaining);
      if (!bytes) return refused(`files have more than ${DELEGATION_LIMITS.filesBytes} bytes together`);
      remaining -= bytes.length;
      read.set(name, { name, bytes });
    }
    return [...read.values()];
  });
}

/** A file that git would interpret in its new place; without a HEAD no folder becomes a repository. */
export function isGits(name: string): boolean {
  return isGitInternal(name) || basename(name).toUpperCase() === REPOSITORY_HEAD;
}

function refused(message: string): ToolFailure {
  return toolError('InvalidArgs', message);
}

/** Where the target finds it in its own workspace. */
export function passedPath(delegationId: string, { name }: PassedFile): string {
  return `delegated/${delegationId}/${name}`;
}

/** Safe to repeat. Secrets in texts are hidden, as in the task itself. */
export async function writePassedFiles(
  files: Pick<Files, 'change'>,
  scrubber: Pick<Scrubber, 'text'>,
  target: Pick<FileScope, 'workspace' | 'workspaceFrom'> & { readonly delegationId: string },
  passed: readonly PassedFile[],
): Promise<void> {
  for (const file of passed) {
    const path = passedPath(target.delegationId, file);
    const scope = { ...target, idempotencyKey: path };
    await files.change(scope, path, true, () => withoutSecrets(scrubber, file.bytes));
  }
}
