/** Folders and kernels for tests. */
import { execFileSync } from 'node:child_process';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Without links in its path, removed after the test. */
export async function temporaryFolder(t: { after(act: () => unknown): void }): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'sandbox-test-')));
  t.after(() => rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }));
  return folder;
}

/** Whether this kernel has Landlock with ports (ABI 4). */
export function hasWall(): boolean {
  const script = 'import ctypes; print(ctypes.CDLL(None).syscall(444, None, 0, 1))';
  return process.platform === 'linux' && Number(execFileSync('python3', ['-c', script])) >= 4;
}
