/**
 * Writes whole files of a workspace, and changes their contents: one change of a file at a time, across all processes.
 */
import type { BigIntStats } from 'node:fs';
import { type FileHandle, lstat, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { createChangeJournal } from './change-journal.ts';
import { errnoOf, FileProblem, shown } from './file-problem.ts';
import type { Files, FileScope, FilesOptions } from './contract.ts';
import { closing, explained, openIn, versionOf } from './open-file.ts';
import { type Folder, openParent } from './open-folder.ts';
import { existing, type LastStep, replaceFile } from './replace-file.ts';
import type { SafePath } from './resolve-path.ts';

/** Greatest size in bytes of a file that is changed in memory. */
export const MAX_CHANGE_BYTES = 20 * 1024 * 1024;

export function createFileChanges(
  options: FilesOptions & {
    /** `whole`: all of the file is replaced. */
    readonly resolveChange: (scope: FileScope, path: string, whole: boolean) => Promise<SafePath>;
  },
): Pick<Files, 'write' | 'change' | 'remove'> {
  const { resolveChange } = options;
  const journal = createChangeJournal(options.journalDir, options.now);
  return {
    async write(scope, path, content, check) {
      return explained('failed to write file', path, async () => {
        const safe = await resolveChange(scope, path, true);
        const { folder, name } = await openParent(safe, true);
        return closing(folder, async () => {
          const bytes = typeof content === 'string' ? Buffer.from(content) : content;
          let written = { bytes: 0, version: '' };
          // The lock covers the last check and the write, so that no concurrent change is overwritten.
          const last: LastStep = (put) =>
            options.lock(lockNameOf(safe), async () => {
              check?.((await existing(folder, name, path)) && versionOf(await lookAt(folder, name)));
              await put();
              const there = await lookAt(folder, name);
              written = { bytes: Number(there.size), version: versionOf(there) };
            });
          const { isProgram, idempotencyKey } = scope;
          const { created } = await replaceFile(folder, name, bytes, idempotencyKey, path, {
            last,
            isProgram,
          });
          return { created, ...written };
        });
      });
    },

    async change(scope, path, mayCreate, by) {
      const doing = mayCreate ? 'failed to write file' : 'failed to read file';
      return explained(doing, path, async () => {
        const safe = await resolveChange(scope, path, false);
        const { folder, name } = await openParent(safe, mayCreate);
        const changeIt = async (): Promise<{ done: boolean }> => {
          const old = await readWhole(folder, name, mayCreate, path);
          const changes = scope.use?.journal ?? journal;
          const state = await changes.judge(scope.idempotencyKey, old);
          if (state === 'done') return { done: true };
          if (state === 'lost')
            throw new FileProblem(
              'OutcomeUnknown',
              `${shown(path)} was being changed by this call when the worker stopped, and is different now; read it before changing it again`,
            );
          const next = by(old);
          await changes.note(scope.idempotencyKey, old, next);
          await replaceFile(folder, name, next, scope.idempotencyKey, path);
          return { done: false };
        };
        return closing(folder, () => options.lock(lockNameOf(safe), changeIt));
      });
    },

    async remove(scope, path, check) {
      return explained('failed to remove file', path, async () => {
        const safe = await resolveChange(scope, path, true);
        const { folder, name } = await openParent(safe, true);
        return closing(folder, () =>
          options.lock(lockNameOf(safe), async () => {
            const old = await readWhole(folder, name, true, path);
            if (old === null) return;
            check(old);
            await unlink(folder.at(name));
          }),
        );
      });
    },
  };
}

/** The same on all machines: tenant, workspace and path, whatever folder they are in. */
function lockNameOf({ root, inside }: SafePath): string {
  return join(basename(dirname(root)), basename(root), inside);
}

function lookAt(folder: Folder, name: string): Promise<BigIntStats> {
  return lstat(folder.at(name), { bigint: true });
}

async function readWhole(
  folder: Folder,
  name: string,
  mayBeMissing: boolean,
  requestedPath: string,
): Promise<Buffer | null> {
  let file: FileHandle;
  try {
    file = await openIn(folder, name, requestedPath);
  } catch (error) {
    if (mayBeMissing && errnoOf(error) === 'ENOENT') return null;
    throw error;
  }
  try {
    const { size } = await file.stat();
    if (size > MAX_CHANGE_BYTES)
      throw new FileProblem(
        'ExecutionFailed',
        `${shown(requestedPath)} has ${size} bytes; files over ${MAX_CHANGE_BYTES} bytes are changed with exec`,
      );
    return await file.readFile();
  } finally {
    await file.close();
  }
}
