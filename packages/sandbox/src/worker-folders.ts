/**
 * Folders of single workers, below one that all of them may share. The next worker on the machine recognizes what a
 * killed worker left by its name, and removes it. Host names distinguish machines, including containers.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync } from 'node:fs';
import { lstat, readdir, rm } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { environmentOf, identityOf, ownIdentity, processRow, processTable } from './process-table.ts';

/** Greatest number of characters of a folder's name, without the purpose. */
export const NAME_LENGTH = 38;

/** Readable by its owner only. */
export function makeWorkerFolder(base: string): string {
  mkdirSync(base, { recursive: true, mode: 0o700 });
  return mkdtempSync(join(base, `${machine()}.${ownIdentity()}-`));
}

/** The same in the system's temporary folder. `purpose` is lower-case letters, which are part of its name. */
export function makeTemporaryFolder(purpose: string): string {
  return mkdtempSync(join(tmpdir(), `sandbox-${purpose}-${machine()}.${ownIdentity()}-`));
}

/**
 * Removes the folders of this machine's workers that no longer live, except those that a running process uses. Returns
 * how many.
 */
export async function removeLeftFolders(base: string): Promise<number> {
  // Without a process table, it is unknown which workers have ended.
  if (processRow(process.pid) === undefined) return 0;
  const names = await readdir(base).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const remaining: string[] = [];
  for (const name of names) {
    const worker = NAME.exec(name)?.[1];
    if (worker === undefined) continue;
    const row = processRow(Number(worker.split('.')[0]));
    if (row !== undefined && identityOf(row) === worker) continue;
    if ((await lstat(join(base, name))).uid === process.getuid?.()) remaining.push(name);
  }
  if (remaining.length === 0) return 0;
  // A background command of a killed worker continues.
  const environments = (await processTable()).map(({ pid }) => environmentOf(pid) ?? '');
  const ended = remaining.filter((name) => !environments.some((text) => text.includes(name)));
  for (const name of ended) await rm(join(base, name), { recursive: true, force: true });
  return ended.length;
}

const NAME = new RegExp(`^(?:sandbox-[a-z]+-)?${machine()}\\.(\\d+\\.\\d+)-\\w+$`);

/** Short, because the path of a socket must be. */
function machine(): string {
  return createHash('sha256').update(hostname()).digest('hex').slice(0, 8);
}
