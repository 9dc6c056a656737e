/** A folder for one call: home of its program and place of its credential files. It goes with the call, or with its worker. */
import { rm } from 'node:fs/promises';
import { makeWorkerFolder } from '#activities/process/worker-folders.ts';

export async function withPrivateFolder<T>(base: string, use: (folder: string) => Promise<T>): Promise<T> {
  const folder = await makeWorkerFolder(base);
  try {
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}
