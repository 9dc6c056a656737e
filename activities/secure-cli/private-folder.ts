/** A folder for one call: home of its program and place of its credential files. It goes with the call, or with its worker. */
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { identityOf, processRow } from '#activities/process/process-table.ts';

/** `worker` (ownIdentity) is in its name, so that what a killed worker left is known. Readable by its owner only. */
export async function withPrivateFolder<T>(
  base: string,
  worker: string,
  use: (folder: string) => Promise<T>,
): Promise<T> {
  await mkdir(base, { recursive: true, mode: 0o700 });
  const folder = await mkdtemp(join(base, `${worker}-`));
  try {
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Removes the folders of workers that no longer live. Returns how many. */
export async function removeLeftFolders(base: string): Promise<number> {
  // Where the system does not tell of processes, nobody knows whose are over.
  if (processRow(process.pid) === undefined) return 0;
  const names = await readdir(base).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const left = names.filter((name) => {
    const worker = name.slice(0, name.lastIndexOf('-'));
    const row = processRow(Number(worker.split('.')[0]));
    return row === undefined || identityOf(row) !== worker;
  });
  for (const name of left) await rm(join(base, name), { recursive: true, force: true });
  return left.length;
}
