/**
 * The files of workspaces that follow the work. Every use of a workspace enters it first and leaves it afterwards.
 * Leaving stores the changes before the result is reported.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { RENEW_MS } from '../store.ts';
import { FileProblem } from '#activities/workspace/file-problem.ts';
import type { Files, FileScope, HeldFolder, WorkspaceUse } from '#activities/workspace/contract.ts';
import type { WorkspaceSync } from './workspace-sync.ts';

export interface FollowedFiles {
  readonly files: Files;
  /** Leaves workspaces that background commands used; these have ended. */
  close(): Promise<void>;
}

/** Below the ten seconds of a short tool. */
const SHORT_MS = 8_000;
/** Within the time that a command's activity has beyond the command's own (workflows/activity-options.ts). */
const RUN_MS = 20_000;

/** `onError` gets errors of background changes that could not be stored. */
export function syncFiles(
  files: Files,
  followed: WorkspaceSync,
  onError: (error: unknown) => void,
): FollowedFiles {
  const background = new Set<Promise<void>>();
  const closing = new AbortController();

  async function during<Result>(
    scope: FileScope,
    work: (scope: FileScope) => Promise<Result>,
  ): Promise<Result> {
    if (!followed.follows(scope.workspace)) return work(scope);
    const use = await followed.enter(scope, SHORT_MS);
    let result: Result;
    try {
      result = await work({ ...scope, use });
    } catch (error) {
      await use.leave().catch(onError);
      throw error;
    }
    await use.leave();
    return result;
  }

  async function whileRuns(use: WorkspaceUse, isRunning: () => Promise<boolean>): Promise<void> {
    try {
      while (await isRunning()) await sleep(RENEW_MS, undefined, { signal: closing.signal });
    } catch (error) {
      if (!closing.signal.aborted) onError(error);
    }
    await use.leave().catch(onError);
  }

  return {
    files: {
      readPage: (scope, path, request) => during(scope, (used) => files.readPage(used, path, request)),
      readBytes: (scope, path, max) => during(scope, (used) => files.readBytes(used, path, max)),
      openRead: (scope, path) => during(scope, (used) => files.openRead(used, path)),
      write: (scope, path, content, check) =>
        during(scope, (used) => files.write(used, path, content, check)),
      change: (scope, path, mayCreate, by) =>
        during(scope, (used) => files.change(used, path, mayCreate, by)),
      remove: (scope, path, check) => during(scope, (used) => files.remove(used, path, check)),
      list: (scope, path, limit) => during(scope, (used) => files.list(used, path, limit)),
      isFolder: (scope, path) => during(scope, (used) => files.isFolder(used, path)),
      async keep(scope, patienceMs = RUN_MS) {
        if (!followed.follows(scope.workspace)) return () => Promise.resolve();
        return (await followed.enter(scope, patienceMs)).leave;
      },

      async hold(scope, path, purpose) {
        if (!followed.follows(scope.workspace)) return files.hold(scope, path, purpose);
        const use = await followed.enter(scope, purpose === 'run' ? RUN_MS : SHORT_MS);
        let folder: HeldFolder;
        try {
          folder = await files.hold({ ...scope, use }, path, purpose);
        } catch (error) {
          await use.leave();
          throw error;
        }
        if (purpose === 'run') use.wrote(use.path);
        let isRunning: (() => Promise<boolean>) | undefined;
        return {
          ...folder,
          heldWhile: (onRequest) => void (isRunning = onRequest),
          async close() {
            await folder.close();
            if (!isRunning) return use.leave().catch(notKept);
            const pending = whileRuns(use, isRunning).finally(() => background.delete(pending));
            background.add(pending);
          },
        };
      },
    },
    async close() {
      closing.abort();
      await Promise.all(background);
    },
  };
}

/** The tool ran, and does not run again by itself. */
function notKept(error: unknown): never {
  const why = error instanceof Error ? error.message : String(error);
  throw new FileProblem(
    'OutcomeUnknown',
    `the command ran; what it changed in the workspace may be lost: ${why}`,
  );
}
