/** Snapshots of a tenant's workspaces, for a tenant that moves. */
import { openObjectStore } from '#features/artifacts/index.ts';
import { type MovedObjects, type MovedObjectsParts, storedObjects } from '#features/tenant-move/index.ts';

/** A killed write leaves an object whose name ends with a UUID. */
const REMAINS = /\.[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

export function openMovedObjects({
  config: { workspaces },
  resolveSetting,
}: MovedObjectsParts): MovedObjects | undefined {
  if (workspaces.follow === 'none') return undefined;
  const objects = openObjectStore(workspaces, 'workspaces', resolveSetting);
  const name = 'snapshots of workspaces (workspaces.follow: snapshots)';
  return storedObjects(name, objects, async function* ({ tenant }) {
    for await (const key of objects.list(`${tenant}/`)) if (!REMAINS.test(key)) yield { key };
  });
}
