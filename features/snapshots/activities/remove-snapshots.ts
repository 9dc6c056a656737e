/** Removes workspaces that follow the work for good, one by one and while holding each. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from '#domain/errors.ts';
import type { Db } from '#store/postgres/database.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { inTransaction } from '#store/postgres/transaction.ts';
import {
  deleteWorkspace,
  listWorkspaces,
  releaseWorkspace,
  renewWorkspace,
  takeWorkspace,
  type WorkspaceKey,
} from '../store.ts';
import { type CleanOptions, removeObjects, whileRenewing } from './clean-store.ts';
import { prefixOf } from './workspace-sync.ts';

/** Longer than the lease of a worker that died. */
const TRIES = 20;
const PAUSE_MS = 500;

/**
 * Removes those whose names end with the suffix. `onGone` runs in the commit of each. Safe to repeat: it removes what
 * is left.
 */
export async function removeSnapshots(
  options: CleanOptions,
  tenant: string,
  suffix: string,
  onGone: (db: Db) => Promise<void>,
): Promise<void> {
  for (const key of await listWorkspaces(forTenant(options.pool, tenant), suffix)) {
    const fence = await take(options, key);
    const holds = (): Promise<boolean> => renewWorkspace(options.pool, key, fence);
    try {
      await whileRenewing(options.pool, key, fence, async () => {
        const objects: string[] = [];
        for await (const object of options.store.list(prefixOf(key))) objects.push(object);
        await removeObjects(options.store, objects, holds);
      });
      await inTransaction(options.pool, async (tx) => {
        if (!(await deleteWorkspace(tx, key, fence))) throw inUse(key);
        await onGone(tx);
      });
    } finally {
      await releaseWorkspace(options.pool, key, fence);
    }
  }
}

async function take({ pool, holder }: CleanOptions, key: WorkspaceKey): Promise<number> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const lease = await takeWorkspace(pool, key, holder);
    if (lease) return lease.fence;
    await sleep(PAUSE_MS);
  }
  throw inUse(key);
}

function inUse({ name }: WorkspaceKey): Failure {
  return new Failure('Unavailable', `the workspace ${name} is in use by a worker`);
}
