/** Makes workspaces that follow the work (VF-6): copies on this machine, and their store of objects. */
import { hostname } from 'node:os';
import { openObjectStore } from '#features/artifacts/index.ts';
import type { Workspaces } from '#activities/workspace/workspaces.ts';
import { removeWorkspaces } from '#activities/workspace/workspace-folder.ts';
import type { WorkspaceParts } from '#domain/feature.ts';
import { cleanStore } from './activities/clean-store.ts';
import { createWorkspaceSync } from './activities/workspace-sync.ts';
import { syncFiles } from './activities/sync-files.ts';
import { removeSnapshots } from './activities/remove-snapshots.ts';

/** Returns undefined when the settings use only folders. */
export function createWorkspaces(
  { files }: Workspaces,
  { config, pool, resolveSetting, onError }: WorkspaceParts,
): Workspaces | undefined {
  const { workspaceRoot: root, workspaces: settings } = config;
  if (settings.follow === 'none') return undefined;
  const store = openObjectStore(settings, 'workspaces', resolveSetting);
  const holder = `worker ${process.pid} on ${hostname()}`;
  const followed = createWorkspaceSync({ pool, store, root, holder });
  return {
    ...syncFiles(files, followed, onError),
    clean: () => cleanStore({ pool, store, holder }),
    async remove(tenant, suffix, onGone) {
      await removeSnapshots({ pool, store, holder }, tenant, suffix, (db) => onGone(db, 1));
      await removeWorkspaces(root, tenant, suffix);
    },
  };
}
