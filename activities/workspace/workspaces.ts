/** The workspaces of a worker: their files, how they are cleaned, and how they go for good. */
import type { Db } from '#store/database.ts';
import type { Pool } from '#store/pool.ts';
import type { Files } from './files.ts';
import { removeWorkspaces } from './workspace-folder.ts';

export interface Workspaces {
  readonly files: Files;
  /** Removes what nothing needs any more; returns how much. */
  clean(): Promise<number>;
  /** For good. */
  readonly remove: RemoveWorkspaces;
  /** When all that runs in them is over. */
  close(): Promise<void>;
}

/** Those of all agents whose names end so (ownSuffix). `onGone` is of the commit with which they go, where there is one. Safe to repeat. */
export type RemoveWorkspaces = (
  tenant: string,
  suffix: string,
  onGone: (db: Db, count: number) => Promise<void>,
) => Promise<void>;

/** Folders below `root`, which are all there is of them. */
export function foldersOnly(files: Files, root: string, pool: Pool): Workspaces {
  return {
    files,
    clean: () => Promise.resolve(0),
    remove: async (tenant, suffix, onGone) => onGone(pool, await removeWorkspaces(root, tenant, suffix)),
    close: () => Promise.resolve(),
  };
}
