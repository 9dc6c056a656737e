/**
 * What a snapshot is made of. A folder is an object too: the list of its entries. A change therefore only writes the
 * objects of the folders on its path. A revision of a workspace is its root: the top folder and the newest entries of
 * the journal.
 */
import { createHash } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import type { ObjectStore } from '#features/artifacts/index.ts';

export interface FileEntry {
  readonly kind: 'file';
  readonly mode: number;
  /** Milliseconds since 1970, by which builds tell new from old. */
  readonly modified: number;
  /** Digests of its pieces. */
  readonly chunks: readonly string[];
  /** How it looked on this disk when it had these contents; undefined if it must be read again. */
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
  /** Number of entries below it. */
  readonly count: number;
}

export type Entry = FileEntry | LinkEntry | FolderEntry;

/** An entry in the object of its folder; a folder's own entries are another object. */
export type Listed = FileEntry | LinkEntry | Pick<FolderEntry, 'kind' | 'mode' | 'digest'>;

/** Digests of a file before and after a call changed it. */
interface Change {
  readonly before: string;
  readonly after: string;
}

/** Changes by the digest of the call's key. */
export type Changes = ReadonlyMap<string, Change>;

export interface Root {
  readonly folder: string;
  readonly changes: Changes;
}

/** Files are cut into pieces of this many bytes; most are one. */
export const CHUNK_BYTES = 4 * 1024 * 1024;
/** The permissions that are stored; set-user-id and the like are not. */
export const MODE = 0o777;

export function digestOf(bytes: Buffer | string): string {
  return createHash('sha256').update(bytes).digest('hex');
}

export function seenOf({ size, mtimeNs, ctimeNs, ino }: BigIntStats): string {
  return `${size}.${mtimeNs}.${ctimeNs}.${ino}`;
}

/** What is only known of this disk, and what is an object of its own. */
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
  /** Resolves with the digest when the upload has started; only a few run at once. */
  put(bytes: Buffer): Promise<string>;
  /** Resolves when everything that was put is durable. */
  settled(): Promise<void>;
  /** Throws when the bytes do not have this digest. */
  get(digest: string): Promise<Buffer>;
}

/** Concurrent uploads of a workspace. */
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

/** Runs `work` on each, at most `max` at once. An error is thrown when everything that has started is over. */
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
