/**
 * Folders of single workers, below one that all of them may share: what a killed worker left is known by its name and removed by
 * the next one on its machine. Machines, containers too, are told apart by their host names.
 */
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { identityOf, ownIdentity, processRow } from './process-table.ts';

/** The most characters of a folder's name. */
export const NAME_LENGTH = 38;

/** Readable by its owner only. */
export async function makeWorkerFolder(base: string): Promise<string> {
  await mkdir(base, { recursive: true, mode: 0o700 });
  return mkdtemp(join(base, `${machine()}.${ownIdentity()}-`));
}

/** Removes the folders of workers of this machine that no longer live. Returns how many. */
export async function removeLeftFolders(base: string): Promise<number> {
  // Where the system does not tell of processes, nobody knows whose are over.
  if (processRow(process.pid) === undefined) return 0;
  const names = await readdir(base).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const prefix = `${machine()}.`;
  const left = names.filter((name) => {
    if (!name.startsWith(prefix)) return false;
    const worker = name.slice(prefix.length, name.lastIndexOf('-'));
    const row = processRow(Number(worker.split('.')[0]));
    return row === undefined || identityOf(row) !== worker;
  });
  for (const name of left) await rm(join(base, name), { recursive: true, force: true });
  return left.length;
}

/** Short, since the path of a socket must be. */
function machine(): string {
  return createHash('sha256').update(hostname()).digest('hex').slice(0, 8);
}
