/** Several workers of one tenant as several copies in one process, with one store of snapshots. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Files } from '#activities/workspace/contract.ts';
import { createFiles } from '#activities/workspace/files.ts';
import { createFolderStore, type ObjectStore } from '#features/artifacts/objects/object-store.ts';
import type { Pool } from '#store/postgres/pool.ts';
import type { TestDatabase } from '#test/support/test-database.ts';
import { inTurn, temporaryFolder } from '#test/support/tool-call.ts';
import type { SnapshotLimits } from '../activities/scan.ts';
import { syncFiles } from '../activities/sync-files.ts';
import { createWorkspaceSync, type WorkspaceSync } from '../activities/workspace-sync.ts';

/** A worker with a folder of its own. */
export interface Copy {
  readonly followed: WorkspaceSync;
  readonly files: Files;
  readonly folder: string;
  readonly errors: unknown[];
  close(): Promise<void>;
}

export interface Bench {
  readonly tenant: string;
  readonly store: ObjectStore;
  /** Called before each request to the store. */
  gate: (what: 'put' | 'get', key: string) => Promise<void> | void;
  worker(name: string, pool?: Pool, limits?: SnapshotLimits): Copy;
  row(): Promise<{ revision: number; roots: string[]; held: boolean; fence: string } | undefined>;
  expire(): Promise<void>;
}

export async function createBench(database: TestDatabase, t: TestContext): Promise<Bench> {
  const base = await temporaryFolder(t);
  const tenant = `t${randomBytes(6).toString('hex')}`;
  await database.pool.query('insert into tenants values ($1, $1)', [tenant]);
  const kept = createFolderStore(join(base, 'store'));
  const copies: Copy[] = [];
  t.after(() => Promise.all(copies.map((copy) => copy.close())));
  const made: Bench = {
    tenant,
    gate: () => undefined,
    store: {
      ...kept,
      async put(at, bytes) {
        await made.gate('put', at);
        await kept.put(at, bytes);
      },
      async get(at) {
        await made.gate('get', at);
        return kept.get(at);
      },
    },
    worker(name, pool = database.pool, limits) {
      const root = join(base, name);
      const options = { pool, store: made.store, root, holder: `worker ${name}` };
      const followed = createWorkspaceSync(limits ? { ...options, limits } : options);
      const errors: unknown[] = [];
      const inner = createFiles({ journalDir: join(base, `${name}-journal`), now: Date.now, lock: inTurn });
      const { files, close } = syncFiles(inner, followed, (error) => errors.push(error));
      const copy = { followed, files, errors, close, folder: join(root, tenant, 'main') };
      copies.push(copy);
      return copy;
    },
    async row() {
      const { rows } = await database.pool.query(
        `select revision, roots, fence, coalesce(held_until > clock_timestamp(), false) as held
         from workspaces where tenant_id = $1`,
        [tenant],
      );
      return rows[0];
    },
    async expire() {
      await database.pool.query(
        `update workspaces set held_until = clock_timestamp() - interval '1 second' where tenant_id = $1`,
        [tenant],
      );
    },
  };
  return made;
}
