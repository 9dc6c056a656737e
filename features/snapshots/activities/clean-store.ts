/**
 * Removes objects that no kept revision names, workspace by workspace and while holding it. Nothing can therefore add
 * an object there that is about to be removed.
 */
import type { Pool } from '#store/postgres/pool.ts';
import {
  noteCleaned,
  RENEW_MS,
  releaseWorkspace,
  renewWorkspace,
  takeWorkspace,
  type WorkspaceKey,
  workspaceRoots,
  workspacesToClean,
} from '../store.ts';
import { prefixOf } from './workspace-sync.ts';
import type { ObjectStore } from '#features/artifacts/index.ts';
import { createObjects, keyOf, readListing, readRoot } from './tree.ts';

export interface CleanOptions {
  readonly pool: Pool;
  readonly store: ObjectStore;
  readonly holder: string;
}

/** Workspaces of one sweep. */
const WORKSPACES = 5;
/** The most objects that a bucket deletes at once. */
const BATCH = 1_000;

/**
 * Returns how many objects were removed. Safe to repeat, also concurrently. A failure with one workspace does not stop
 * the others.
 */
export async function cleanStore(options: CleanOptions): Promise<number> {
  let count = 0;
  let failed: { readonly error: unknown } | undefined;
  for (const key of await workspacesToClean(options.pool, WORKSPACES)) {
    const lease = await takeWorkspace(options.pool, key, options.holder);
    if (!lease) continue;
    try {
      count += await whileRenewing(options.pool, key, lease.fence, () => cleanOne(options, key, lease.fence));
    } catch (error) {
      failed = { error };
    } finally {
      await releaseWorkspace(options.pool, key, lease.fence);
    }
  }
  if (failed) throw failed.error;
  return count;
}

async function cleanOne({ pool, store }: CleanOptions, key: WorkspaceKey, fence: number): Promise<number> {
  const prefix = prefixOf(key);
  const holds = (): Promise<boolean> => renewWorkspace(pool, key, fence);
  const named = await namedBy(store, prefix, await workspaceRoots(pool, key), holds);
  if (!named) return 0;
  const remaining: string[] = [];
  for await (const object of store.list(prefix)) if (!named.has(object)) remaining.push(object);
  const removed = await removeObjects(store, remaining, holds);
  if (removed === remaining.length) await noteCleaned(pool, key, fence);
  return removed;
}

/** Holds it for as long as the bucket takes: another worker could write anew what is about to be removed. */
export async function whileRenewing<Result>(
  pool: Pool,
  key: WorkspaceKey,
  fence: number,
  work: () => Promise<Result>,
): Promise<Result> {
  // Whoever needs to know whether it is still held asks itself.
  const timer = setInterval(() => renewWorkspace(pool, key, fence).catch(() => false), RENEW_MS).unref();
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

/** Returns how many were removed before another worker took the workspace. */
export async function removeObjects(
  store: ObjectStore,
  keys: readonly string[],
  holds: () => Promise<boolean>,
): Promise<number> {
  for (let at = 0; at < keys.length; at += BATCH) {
    // Its lease may have run out; then another worker may use these again.
    if (!(await holds())) return at;
    await store.remove(keys.slice(at, at + BATCH));
  }
  return keys.length;
}

/** The keys of all objects of these revisions; undefined when another worker took the workspace. */
async function namedBy(
  store: ObjectStore,
  prefix: string,
  roots: readonly string[],
  holds: () => Promise<boolean>,
): Promise<ReadonlySet<string> | undefined> {
  const objects = createObjects(store, prefix);
  const named = new Set<string>();
  const folders: string[] = [];
  for (const root of roots) {
    named.add(keyOf(prefix, root));
    folders.push(readRoot(await objects.get(root)).folder);
  }
  for (let folder = folders.pop(), seen = 0; folder !== undefined; folder = folders.pop(), seen += 1) {
    if (named.has(keyOf(prefix, folder))) continue;
    if (seen % RENEWED === 0 && !(await holds())) return undefined;
    named.add(keyOf(prefix, folder));
    const listed = [...readListing(await objects.get(folder)).values()];
    folders.push(...listed.flatMap((entry) => (entry.kind === 'folder' ? [entry.digest] : [])));
    for (const chunk of listed.flatMap((entry) => (entry.kind === 'file' ? entry.chunks : [])))
      named.add(keyOf(prefix, chunk));
  }
  return named;
}

/** Objects between two renewals: at 50 ms each, less than the lease. */
const RENEWED = 50;
