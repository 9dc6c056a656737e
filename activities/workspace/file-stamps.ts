/** What is in a workspace by how it looks, to see what a command has changed there. What runs there is hostile: no link is followed. */
import { lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { errnoOf } from './file-problem.ts';

/** By path; undefined where a change could not be seen. */
export type FileStamps = ReadonlyMap<string, string | undefined>;

/** Of a workspace; in one with more, or deeper, changes are not told apart. */
const MAX_ENTRIES = 20_000;
const MAX_DEPTH = 50;
/** Two changes within one tick of a file system's clock look the same. */
const TICK_MS = 20;
/** Changed paths that are named one by one. */
const MAX_NAMED = 100;

/** Undefined: there are too many. `own`: names at its top that are passed over. */
export async function stampFiles(workspace: string, own: readonly string[]): Promise<FileStamps | undefined> {
  const stamps = new Map<string, string | undefined>();
  const since = Date.now() - TICK_MS;
  const probe = async (folder: string, depth: number): Promise<boolean> => {
    if (depth > MAX_DEPTH) return false;
    const below: string[] = [];
    for await (const entry of await opendir(join(workspace, folder))) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (own.includes(path)) continue;
      if (stamps.size >= MAX_ENTRIES) return false;
      if (entry.isDirectory()) below.push(path);
      else stamps.set(path, await stampOf(join(workspace, path), since));
    }
    for (const path of below) if (!(await probe(path, depth + 1).catch(isGone))) return false;
    return true;
  };
  // What cannot be looked at is not told apart either.
  return (await probe('', 0).catch(cannot)) ? stamps : undefined;
}

async function stampOf(path: string, since: number): Promise<string | undefined> {
  const found = await lstat(path, { bigint: true }).catch(isGone);
  if (typeof found === 'boolean' || found.ctimeMs > since) return undefined;
  return `${found.ino} ${found.size} ${found.ctimeNs}`;
}

/** Removed between two looks. */
function isGone(error: unknown): true {
  if (!['ENOENT', 'ENOTDIR'].includes(errnoOf(error) ?? '')) throw error;
  return true;
}

function cannot(error: unknown): false {
  if (errnoOf(error) === undefined) throw error;
  return false;
}

/** Files that are new or another, or the folders at the top that they are in; the whole, '', where it cannot be told. */
export function changedSince(before: FileStamps | undefined, now: FileStamps | undefined): readonly string[] {
  if (!before || !now) return [''];
  const changed = [...now].flatMap(([path, stamp]) =>
    stamp !== undefined && before.get(path) === stamp ? [] : [path],
  );
  if (changed.length <= MAX_NAMED) return changed;
  const folders = [...new Set(changed.map((path) => path.split('/', 1)[0] ?? ''))];
  return folders.length <= MAX_NAMED ? folders : [''];
}
