/**
 * What a snapshot is made of. A folder is an object too: the list of what is in it, so that a change costs the objects of the folders
 * on its way, whatever else there is. A revision of a workspace is its root: the top folder and the newest entries of the journal.
 */
import { createHash } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import type { ObjectStore } from '#activities/objects/object-store.ts';

export interface FileEntry {
  readonly kind: 'file';
  readonly mode: number;
  /** Milliseconds since 1970: what builds tell new from old by. */
  readonly modified: number;
  /** Digests of its pieces. */
  readonly chunks: readonly string[];
  /** How it looked on this disk when it was this; undefined: it is to be read again. */
  readonly seen?: string | undefined;
}

export interface LinkEntry {
  readonly kind: 'link';
  readonly target: string;
}

export interface FolderEntry {
  readonly kind: 'folder';
  readonly mode: number;
  readonly digest: string;
  readonly entries: ReadonlyMap<string, Entry>;
  /** Of all below it. */
  readonly count: number;
}

export type Entry = FileEntry | LinkEntry | FolderEntry;

/** As it stands in the object of its folder; a folder's own entries are another object. */
export type Listed = FileEntry | LinkEntry | Pick<FolderEntry, 'kind' | 'mode' | 'digest'>;

/** Digests of a file before and after it was changed by a call. */
interface Change {
  readonly before: string;
  readonly after: string;
}

/** By the digest of the call's key. */
export type Changes = ReadonlyMap<string, Change>;

export interface Root {
  readonly folder: string;
  readonly changes: Changes;
}

/** Files are cut into pieces of so many bytes; most are one. */
export const CHUNK_BYTES = 4 * 1024 * 1024;
/** Kept of permissions; set-user-id and the like do not travel. */
export const MODE = 0o777;

export function digestOf(bytes: Buffer | string): string {
  return createHash('sha256').update(bytes).digest('hex');
}

export function seenOf({ size, mtimeNs, ctimeNs, ino }: BigIntStats): string {
  return `${size}.${mtimeNs}.${ctimeNs}.${ino}`;
}

/** What is known of this disk, and what is an object of its own. */
const NOT_LISTED = new Set(['seen', 'entries', 'count']);

export function writeListing(entries: ReadonlyMap<string, Entry>): Buffer {
  const sorted = [...entries].sort(([a], [b]) => (a < b ? -1 : 1));
  const text = JSON.stringify(sorted, (key, value: unknown) => (NOT_LISTED.has(key) ? undefined : value));
  return Buffer.from(text);
}

export function readListing(bytes: Buffer): ReadonlyMap<string, Listed> {
  return new Map(JSON.parse(bytes.toString('utf8')) as [string, Listed][]);
}

export function writeRoot({ folder, changes }: Root): Buffer {
  return Buffer.from(JSON.stringify({ folder, changes: [...changes] }));
}

export function readRoot(bytes: Buffer): Root {
  const { folder, changes } = JSON.parse(bytes.toString('utf8')) as {
    readonly folder: string;
    readonly changes: readonly (readonly [string, Change])[];
  };
  return { folder, changes: new Map(changes) };
}

/** The objects of one workspace. */
export interface Objects {
  /** Resolves with the digest when it is on its way, which is when it finds a place among the few that are. */
  put(bytes: Buffer): Promise<string>;
  /** Resolves when all that was put is durable. */
  settled(): Promise<void>;
  /** Throws when the bytes are not those of the digest. */
  get(digest: string): Promise<Buffer>;
}

/** Uploads at once, of a workspace. */
const UPLOADS = 8;

/** `prefix` ends in a slash. */
export function createObjects(store: ObjectStore, prefix: string): Objects {
  const under = new Set<Promise<void>>();
  let failed: { readonly error: unknown } | undefined;
  return {
    async put(bytes) {
      const digest = digestOf(bytes);
      while (under.size >= UPLOADS) await Promise.race(under);
      const upload = store
        .put(keyOf(prefix, digest), bytes)
        .catch((error: unknown) => void (failed ??= { error }))
        .finally(() => under.delete(upload));
      under.add(upload);
      return digest;
    },
    async settled() {
      await Promise.all(under);
      if (failed) throw failed.error;
    },
    async get(digest) {
      const bytes = await store.get(keyOf(prefix, digest));
      if (digestOf(bytes) !== digest)
        throw new Error(`object ${digest} of the store has other bytes than it had`);
      return bytes;
    },
  };
}

export function keyOf(prefix: string, digest: string): string {
  return `${prefix}${digest.slice(0, 2)}/${digest}`;
}

/** `work` on each, at most `most` at once. What goes wrong is thrown when all that was begun is over. */
export async function eachOf<Item>(
  items: Iterable<Item>,
  max: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const remaining = items[Symbol.iterator]();
  const errors: unknown[] = [];
  const lane = async (): Promise<void> => {
    for (let next = remaining.next(); !next.done && errors.length === 0; next = remaining.next())
      await work(next.value).catch((error: unknown) => void errors.push(error));
  };
  await Promise.all(Array.from({ length: max }, lane));
  if (errors.length > 0) throw errors[0];
}
