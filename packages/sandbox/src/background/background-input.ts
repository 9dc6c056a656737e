/** Writes to the FIFO that is a background command's input, without waiting for a command that does not read. */
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';

/** Milliseconds for a command that reads slowly; after that the rest is not written. */
const WRITE_MS = 3_000;
const AGAIN_MS = 20;

/** False when the command has ended, or its input stays closed or full; then a part may have been written. */
export async function feedInput(
  folder: string,
  { running, pid }: { readonly running: boolean; readonly pid: number },
  data: string,
  end: boolean,
): Promise<boolean> {
  if (!running) return false;
  const wrote = data === '' || (await writeAll(join(folder, 'in'), Buffer.from(data)));
  if (wrote && end) process.kill(pid, 'SIGUSR1');
  return wrote;
}

async function writeAll(fifo: string, data: Buffer): Promise<boolean> {
  const file = await openInput(fifo);
  if (file === undefined) return false;
  try {
    return await pump(file, data, performance.now() + WRITE_MS);
  } finally {
    await file.close();
  }
}

async function pump(file: FileHandle, data: Buffer, until: number): Promise<boolean> {
  for (let written = 0; written < data.length; ) {
    const taken = await writeSome(file, data, written);
    if (taken === 'closed' || performance.now() > until) return false;
    if (taken === 'full') await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    else written += taken;
  }
  return true;
}

async function writeSome(file: FileHandle, data: Buffer, from: number): Promise<number | 'closed' | 'full'> {
  try {
    return (await file.write(data, from)).bytesWritten;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EPIPE') return 'closed';
    if (code === 'EAGAIN') return 'full';
    throw error;
  }
}

/** A command that has just started may not have its FIFO yet. */
const OPEN_TRIES = 50;

async function openInput(fifo: string): Promise<FileHandle | undefined> {
  for (let tries = 0; tries < OPEN_TRIES; tries += 1) {
    try {
      return await open(fifo, constants.O_WRONLY | constants.O_NONBLOCK);
    } catch (error) {
      // ENXIO: nobody reads it (yet, or any more).
      const { code } = error as NodeJS.ErrnoException;
      if (code !== 'ENXIO' && code !== 'ENOENT') throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
  }
  return undefined;
}
