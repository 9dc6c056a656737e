/** Bytes of artifacts that are in the object store and not in Postgres, for a tenant that moves. */
import { type MovedObjects, type MovedObjectsParts, storedObjects } from '#features/tenant-move/index.ts';
import { openObjectStore } from './objects/open-object-store.ts';
import { listPrefixes } from './store.ts';

export function openMovedObjects({
  config: { artifacts },
  resolveSetting,
}: MovedObjectsParts): MovedObjects | undefined {
  const { store, s3 } = artifacts;
  if (store === undefined) return undefined;
  const objects = openObjectStore({ store, s3 }, 'artifacts', resolveSetting);
  return storedObjects('objects of artifacts (artifacts.store)', objects, async function* (db) {
    // The remains of a killed write have a longer name.
    for (const prefix of await listPrefixes(db))
      for await (const key of objects.list(prefix)) if (/\/\d+$/.test(key)) yield { key };
  });
}
