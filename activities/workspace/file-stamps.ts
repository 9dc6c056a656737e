/**
 * Stamps of a workspace's files, to detect what a command has changed. Programs there may be hostile: no link is
 * followed.
 */
import { lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { errnoOf } from './file-problem.ts';

/** By path; undefined when a change could not be detected. */
export type FileStamps = ReadonlyMap<string, string | undefined>;

const MAX_DEPTH = 50;
/** Greatest number of changed paths that are named individually. */
const MAX_NAMED = 100;

export interface StampLimits {
  /** Greatest number of files and folders of a workspace. */
  readonly entries: number;
  /** Two changes within one tick of a file system's clock look the same: a file this new counts as changed. */
  readonly tickMs: number;
}

/** Undefined when there are more entries, or deeper ones. `own`: top-level names that are skipped. */
export async function stampFiles(
  workspace: string,
  own: readonly string[],
  { entries, tickMs }: StampLimits,
): Promise<FileStamps | undefined> {
  const stamps = new Map<string, string | undefined>();
  const since = Date.now() - tickMs;
  let seen = 0;
  const probe = async (folder: string, depth: number): Promise<boolean> => {
    if (depth > MAX_DEPTH) return false;
    const below: string[] = [];
    for await (const entry of await opendir(join(workspace, folder))) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (own.includes(path)) continue;
      seen += 1;
      if (seen > entries) return false;
      if (entry.isDirectory()) below.push(path);
      else stamps.set(path, await stampOf(join(workspace, path), since));
    }
    for (const path of below) if (!(await probe(path, depth + 1).catch(isGone))) return false;
    return true;
  };
  // A file that cannot be read cannot be compared either.
  return (await probe('', 0).catch(cannot)) ? stamps : undefined;
}

async function stampOf(path: string, since: number): Promise<string | undefined> {
  const found = await lstat(path, { bigint: true }).catch(isGone);
  if (typeof found === 'boolean' || found.ctimeMs > since) return undefined;
  return `${found.ino} ${found.size} ${found.ctimeNs}`;
}

/** It was removed between two reads. */
function isGone(error: unknown): true {
  if (!['ENOENT', 'ENOTDIR'].includes(errnoOf(error) ?? '')) throw error;
  return true;
}

function cannot(error: unknown): false {
  if (errnoOf(error) === undefined) throw error;
  return false;
}

/**
 * New or changed files, or the top-level folders that contain them; '' for the whole workspace when it cannot be
 * determined.
 */
export function changedSince(before: FileStamps | undefined, now: FileStamps | undefined): readonly string[] {
  if (!before || !now) return [''];
  const changed = [...now].flatMap(([path, stamp]) =>
    stamp !== undefined && before.get(path) === stamp ? [] : [path],
  );
  if (changed.length <= MAX_NAMED) return changed;
  const folders = [...new Set(changed.map((path) => path.split('/', 1)[0] ?? ''))];
  return folders.length <= MAX_NAMED ? folders : [''];
}
