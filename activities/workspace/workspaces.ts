/** The workspaces of a worker: their files, cleaning and deletion. */
import type { Db } from '#store/postgres/database.ts';
import type { Pool } from '#store/postgres/pool.ts';
import type { Files } from './contract.ts';
import { removeWorkspaces } from './workspace-folder.ts';

export interface Workspaces {
  readonly files: Files;
  /** Removes what nothing needs any more; returns how much. */
  clean(): Promise<number>;
  /** Removes permanently. */
  readonly remove: RemoveWorkspaces;
  /** Called when everything that runs in them is over. */
  close(): Promise<void>;
}

/**
 * Removes the workspaces of all agents with this suffix (ownSuffix). `onGone` runs in the commit that removes them, if
 * there is one. Safe to repeat.
 */
export type RemoveWorkspaces = (
  tenant: string,
  suffix: string,
  onGone: (db: Db, count: number) => Promise<void>,
) => Promise<void>;

/** Folders below `root`, for workspaces that are nothing else. */
export function foldersOnly(files: Files, root: string, pool: Pool): Workspaces {
  return {
    files,
    clean: () => Promise.resolve(0),
    remove: async (tenant, suffix, onGone) => onGone(pool, await removeWorkspaces(root, tenant, suffix)),
    close: () => Promise.resolve(),
  };
}
