/** The files of this worker's workspaces: one folder that is all there is, or copies that follow the work (VF-6). */
import { deniedPrefixes } from '#domain/path-rules.ts';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Config } from '#config';
import { cleanStore } from './activities/clean-store.ts';
import { createFollowed } from './activities/followed.ts';
import { followFiles } from './activities/followed-files.ts';
import { removeSnapshots } from './activities/remove-snapshots.ts';
import type { RemoveWorkspaces } from '#activities/forgetting/forgetting-room.ts';
import { removeWorkspaces } from '#activities/workspace/workspace-folder.ts';
import { openObjectStore } from '#activities/objects/open-object-store.ts';
import { createFiles, type Files } from '#activities/workspace/files.ts';
import { withDocuments } from '#activities/workspace/with-documents.ts';
import { createFileLock } from '#store/file-lock.ts';
import type { Pool } from '#store/pool.ts';

export interface Workspaces {
  readonly files: Files;
  /** Removes what nothing needs any more; returns how much. */
  clean(): Promise<number>;
  /** For good. */
  readonly remove: RemoveWorkspaces;
  /** When all that runs in them is over. */
  close(): Promise<void>;
}

export function createWorkspaces(
  config: Pick<Config, 'stateDir' | 'tools' | 'workspaceRoot' | 'workspaces'>,
  pool: Pool,
  resolveSetting: (text: string) => Promise<string>,
  onError: (error: unknown) => void,
): Workspaces {
  const files = withDocuments(
    createFiles({
      rules: { deniedPrefixes: deniedPrefixes(config.tools.denied_paths) },
      journalDir: join(config.stateDir, 'changes'),
      now: Date.now,
      lock: createFileLock(pool),
    }),
    pool,
  );
  const { workspaceRoot: root } = config;
  if (config.workspaces.follow === 'none')
    return {
      files,
      clean: () => Promise.resolve(0),
      remove: async (tenant, suffix, onGone) => onGone(pool, await removeWorkspaces(root, tenant, suffix)),
      close: () => Promise.resolve(),
    };
  const store = openObjectStore(config.workspaces, 'workspaces', resolveSetting);
  const holder = `worker ${process.pid} on ${hostname()}`;
  const followed = createFollowed({ pool, store, root, holder });
  return {
    ...followFiles(files, followed, onError),
    clean: () => cleanStore({ pool, store, holder }),
    async remove(tenant, suffix, onGone) {
      await removeSnapshots({ pool, store, holder }, tenant, suffix, (db) => onGone(db, 1));
      await removeWorkspaces(root, tenant, suffix);
    },
  };
}
