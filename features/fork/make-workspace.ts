/**
 * Makes the workspace of a fork: a copy of the original's, with files as they were at the place of the fork. It is whole
 * or not there: the copy gets its name when it is complete.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { errnoOf } from '#activities/workspace/file-problem.ts';
import type { Files } from '#activities/workspace/contract.ts';
import type { Pool } from '#store/postgres/pool.ts';
import { FORK_LIMITS, type ForkResult } from './contract.ts';
import { type CopiedWorkspace, copyWorkspace } from './copy-workspace.ts';
import { putBack, type PutBackDeps } from './put-back.ts';
import { copyMarks } from './store/marks.ts';
import type { LaterCall } from './store/later-calls.ts';

export interface WorkspaceDeps extends PutBackDeps {
  readonly pool: Pool;
  readonly files: Pick<Files, 'hold' | 'keep'>;
  readonly signal: AbortSignal;
}

export interface Folders {
  readonly from: string;
  /** The folder that `from` would be copied from if it is not there yet. */
  readonly template: string | undefined;
  readonly to: string;
}

type CopiedFiles = Pick<ForkResult, 'files' | 'bytes' | 'put_back' | 'not_put_back' | 'not_put_back_total'>;

interface MadeWorkspace {
  readonly copied: CopiedFiles;
  /** Whether the files there are those of this copy. */
  readonly isFirst: boolean;
}

/**
 * Safe to repeat, also concurrently: of two copies the first counts. `readCalls` is called after the copy, so that what
 * was written meanwhile is put back too. `refuseTaken` is called before the copy gets its name, because that may be the
 * folder of a session which was made meanwhile. @throws Failure TooLarge
 */
export async function makeForkWorkspace(
  deps: WorkspaceDeps,
  { from, template, to }: Folders,
  readCalls: () => Promise<readonly LaterCall[]>,
  refuseTaken: () => Promise<void>,
): Promise<MadeWorkspace> {
  const { db, pool, files, signal } = deps;
  await mkdir(dirname(to), { recursive: true, mode: 0o711 });
  const copy = join(dirname(to), `.new-${randomUUID()}`);
  try {
    // Where workspaces follow the work, this worker gets the newest revision, and has it until the copy is complete.
    const release = await files.keep?.({ workspace: from, idempotencyKey: to, signal });
    const copied = await copyFirst([from, template], copy, { as: to, limits: FORK_LIMITS, signal }).finally(
      release,
    );
    const restored = await putBack(deps, { copy: await realpath(copy), from }, await readCalls());
    await copyMarks(pool, db.tenant, basename(from), basename(to));
    await refuseTaken();
    const isFirst = await putInPlace(copy, to);
    // Its first revision is what this worker has.
    await (await files.keep?.({ workspace: to, idempotencyKey: to, signal }))?.();
    return { copied: { ...copied, ...restored }, isFirst };
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}

/** For a copy whose session could not be made: the session that has its folder is to find nothing of it. */
export async function emptyWorkspace(
  { files, signal }: Pick<WorkspaceDeps, 'files' | 'signal'>,
  workspace: string,
): Promise<void> {
  const folder = await files.hold({ workspace, idempotencyKey: workspace, signal }, '.', 'run');
  try {
    for (const name of await readdir(folder.cwd))
      await rm(join(folder.cwd, name), { recursive: true, force: true });
  } finally {
    await folder.close();
  }
}

/** Of the folders, the first that is there; a session that has used none has an empty one. */
async function copyFirst(
  folders: readonly (string | undefined)[],
  copy: string,
  how: Parameters<typeof copyWorkspace>[2],
): Promise<CopiedWorkspace> {
  for (const folder of folders) {
    const real = folder === undefined ? undefined : await realpath(folder).catch(unlessMissing);
    if (real !== undefined) return copyWorkspace(real, copy, how);
  }
  await mkdir(copy, { mode: 0o700 });
  return { files: 0, bytes: 0 };
}

function unlessMissing(error: unknown): undefined {
  if (errnoOf(error) !== 'ENOENT') throw error;
  return undefined;
}

/** Returns false when a copy is there already. */
async function putInPlace(copy: string, to: string): Promise<boolean> {
  try {
    await rename(copy, to);
    return true;
  } catch (error) {
    const isThere = ['ENOTEMPTY', 'EEXIST'].includes(errnoOf(error) ?? '');
    if (!isThere || !(await stat(to)).isDirectory()) throw error;
    return false;
  }
}
