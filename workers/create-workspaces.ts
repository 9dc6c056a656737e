/** The files of this worker's workspaces: one folder that is all there is, or copies that follow the work (VF-6). */
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Config } from '#config';
import { createEgress } from '#activities/egress/egress.ts';
import { cleanStore } from '#activities/snapshots/clean-store.ts';
import { createFollowed } from '#activities/snapshots/followed.ts';
import { followFiles } from '#activities/snapshots/followed-files.ts';
import { removeSnapshots } from '#activities/snapshots/remove-snapshots.ts';
import type { RemoveWorkspaces } from '#activities/forgetting/forgetting-room.ts';
import { removeWorkspaces } from '#activities/workspace/workspace-folder.ts';
import { createFolderStore, type ObjectStore } from '#activities/snapshots/object-store.ts';
import { createS3Store } from '#activities/snapshots/s3-store.ts';
import { CHUNK_BYTES } from '#activities/snapshots/tree.ts';
import { createFiles, type Files } from '#activities/workspace/files.ts';
import { withDocuments } from '#activities/workspace/with-documents.ts';
import { resolveHost } from '#policy/explain/resolve-host.ts';
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
  config: Pick<Config, 'stateDir' | 'workspaceRoot' | 'workspaces'>,
  pool: Pool,
  resolveSetting: (text: string) => Promise<string>,
  onError: (error: unknown) => void,
): Workspaces {
  const files = withDocuments(
    createFiles({ journalDir: join(config.stateDir, 'changes'), now: Date.now }),
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
  const store = createStore(config.workspaces, resolveSetting);
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

function createStore(
  { store, s3 }: Config['workspaces'],
  resolveSetting: (text: string) => Promise<string>,
): ObjectStore {
  const [, bucket, prefix = ''] = /^s3:\/\/([^/]+)\/?(.*)$/.exec(store) ?? [];
  if (bucket === undefined) return createFolderStore(store);
  const { region, accessKeyId = '', secretAccessKey = '' } = s3;
  const endpoint = (s3.endpoint ?? `https://s3.${region}.amazonaws.com`).replace(/\/+$/, '');
  const { hostname: host, port, protocol } = new URL(endpoint);
  // The operator's own service, whose address nobody else can choose. Its exchanges are no rows: they would be more than all others.
  const egress = createEgress({ resolve: resolveHost, record: () => Promise.resolve() });
  const door = egress.open({
    tenant: '',
    purpose: 'workspaces',
    rules: { internalHosts: [`${host}:${port || (protocol === 'https:' ? 443 : 80)}`] },
    limits: { redirects: 0, bytes: 4 * CHUNK_BYTES },
  });
  const settings = async () => ({
    endpoint,
    region,
    bucket,
    prefix,
    accessKeyId: await resolveSetting(accessKeyId),
    secretAccessKey: await resolveSetting(secretAccessKey),
  });
  return createS3Store(settings, door.fetch);
}
