/** What a tenant has outside Postgres. Each feature that stores such objects declares where; folders of workspaces are here. */
import { createReadStream } from 'node:fs';
import { lstat, mkdir, open, readdir, readlink, rm, symlink, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Failure } from '#domain/errors.ts';
import type { Feature, Load, WorkspaceParts } from '#domain/feature.ts';
import type { Db } from '#store/postgres/database.ts';
import type { TenantDb } from '#store/postgres/tenant-db.ts';
import { errnoOf } from '#activities/workspace/file-problem.ts';

declare module '#domain/feature.ts' {
  interface Feature {
    /** What it stores of tenants outside Postgres, for a tenant that moves. */
    readonly movedObjects?: Load<MovedObjectsModule>;
  }
}

export interface MovedObjectsModule {
  /** Undefined when the settings name no place for them. */
  openMovedObjects(parts: MovedObjectsParts): MovedObjects | undefined;
}

export type MovedObjectsParts = Pick<WorkspaceParts, 'config' | 'resolveSetting'>;

export interface MovedObject {
  readonly key: string;
  /** What must be known besides the bytes. */
  readonly about?: ObjectFacts;
}

export interface MovedObjects {
  /** Names the place in the file, and in messages for operators. */
  readonly name: string;
  /** Those that rows of the tenant name, each after what it lies in. */
  list(db: TenantDb<Db>): AsyncIterable<MovedObject>;
  read(tenant: string, object: MovedObject): AsyncIterable<Buffer>;
  /** Resolves when it is durable; an existing one is replaced. */
  write(tenant: string, object: MovedObject, parts: AsyncIterable<Buffer>): Promise<void>;
}

/** The two operations of a store of objects that are used here. Its objects are a few megabytes at most. */
interface ObjectStore {
  get(key: string): Promise<Buffer>;
  put(key: string, bytes: Buffer): Promise<void>;
}

/** Objects of a store whose keys begin with the tenant. */
export function storedObjects(name: string, store: ObjectStore, list: MovedObjects['list']): MovedObjects {
  return {
    name,
    list,
    async *read(_tenant, { key }) {
      yield await store.get(key);
    },
    async write(tenant, { key }, parts) {
      if (!key.startsWith(`${tenant}/`) || hasOddParts(key)) throw notWithin(key, tenant);
      const all: Buffer[] = [];
      for await (const part of parts) all.push(part);
      await store.put(key, Buffer.concat(all));
    },
  };
}

/** A path with such parts may lead elsewhere. */
function hasOddParts(path: string): boolean {
  return path.split('/').some((part) => part === '' || part === '.' || part === '..');
}

function notWithin(key: string, tenant: string): Failure {
  return new Failure('InvalidInput', `${JSON.stringify(key)} is no object of the tenant ${tenant}`);
}

interface ObjectFacts {
  readonly type: 'file' | 'folder' | 'link';
  /** Permissions. */
  readonly mode: number;
  /** Milliseconds since 1970. */
  readonly modified: number;
  /** Of a link. */
  readonly target?: string;
}

const READ_BYTES = 1_048_576;

export async function openAllMovedObjects(
  features: readonly Pick<Feature, 'movedObjects'>[],
  parts: MovedObjectsParts,
): Promise<readonly MovedObjects[]> {
  const modules = await Promise.all(features.flatMap(({ movedObjects }) => movedObjects?.() ?? []));
  const opened = modules.flatMap((one) => one.openMovedObjects(parts) ?? []);
  // Where workspaces follow the work, the folder is only a copy of them.
  return parts.config.workspaces.follow === 'none'
    ? [workspaceFolders(parts.config.workspaceRoot), ...opened]
    : opened;
}

/** Files, folders and links; owners, sockets and pipes are left out. */
export function workspaceFolders(root: string): MovedObjects {
  const at = (tenant: string, key: string): string => {
    if (hasOddParts(key)) throw notWithin(key, tenant);
    return join(root, tenant, key);
  };
  return {
    name: 'folders of workspaces (workspaces.follow: none)',
    async *list({ tenant }) {
      yield* walk(join(root, tenant), '');
    },
    async *read(tenant, { key, about }) {
      if (about?.type !== 'file') return;
      for await (const bytes of createReadStream(at(tenant, key), { highWaterMark: READ_BYTES }))
        yield bytes as Buffer;
    },
    async write(tenant, { key, about }, parts) {
      if (!about) throw new Failure('InvalidInput', `${key} has no type`);
      const path = at(tenant, key);
      if (dirname(key) === '.') await mkdir(join(root, tenant), { recursive: true, mode: 0o711 });
      await writeEntry(path, about, parts);
    },
  };
}

async function* walk(folder: string, prefix: string): AsyncGenerator<MovedObject> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    if (errnoOf(error) === 'ENOENT') return [];
    throw error;
  });
  for (const entry of entries) {
    const key = `${prefix}${entry.name}`;
    const path = join(folder, entry.name);
    const { mode, mtimeMs } = await lstat(path);
    const facts = { mode: mode & 0o777, modified: mtimeMs };
    if (entry.isSymbolicLink())
      yield { key, about: { ...facts, type: 'link', target: await readlink(path) } };
    else if (entry.isFile()) yield { key, about: { ...facts, type: 'file' } };
    else if (entry.isDirectory()) {
      yield { key, about: { ...facts, type: 'folder' } };
      yield* walk(path, `${key}/`);
    }
  }
}

/** Whatever is there is replaced, so that nothing is written through a link. */
async function writeEntry(
  path: string,
  { type, mode, modified, target }: ObjectFacts,
  parts: AsyncIterable<Buffer>,
): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (type === 'folder') {
    if (found && !found.isDirectory()) await rm(path, { force: true });
    // What lies in it is still to be written.
    await mkdir(path, { recursive: true, mode: mode | 0o700 });
    return;
  }
  await rm(path, { force: true, recursive: true });
  if (type === 'link') return symlink(target ?? '', path);
  const file = await open(path, 'wx', mode);
  try {
    for await (const bytes of parts) await file.writeFile(bytes);
    await file.chmod(mode);
    await file.sync();
  } finally {
    await file.close();
  }
  await utimes(path, modified / 1000, modified / 1000);
}
