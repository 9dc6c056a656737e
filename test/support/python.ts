/** A Python with a package, made once in the user's cache. */
import { execFile } from 'node:child_process';
import { access, mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { childEnvironment, userCacheDir } from '#config';

const run = promisify(execFile);

/** The release that the contract's Python functions are tested with. */
const SDK = 'temporalio==1.35.0';

export function pythonWithTemporal(): Promise<string> {
  return pythonWith(SDK);
}

/**
 * The interpreter's path; `expected` names a package and its version. Throws, with pip's last output, when Python or
 * the package is not available.
 */
export async function pythonWith(expected: string): Promise<string> {
  const folder = join(userCacheDir(), `test-${expected.replace('==', '-')}`);
  const python = join(folder, 'bin', 'python');
  if (await exists(python)) return python;
  // It is made aside and moved into place, so that a partial one is never used. Scripts of a moved venv break, but its
  // python does not.
  const part = `${folder}.${process.pid}`;
  const options = { env: childEnvironment({ PIP_DISABLE_PIP_VERSION_CHECK: '1' }), timeout: 300_000 };
  try {
    await mkdir(userCacheDir(), { recursive: true });
    await run('python3', ['-m', 'venv', part], options);
    await run(join(part, 'bin', 'python'), ['-m', 'pip', 'install', '--quiet', expected], options);
    await rename(part, folder).catch(async (error: unknown) => {
      if (!(await exists(python))) throw error;
    });
  } finally {
    await rm(part, { recursive: true, force: true });
  }
  return python;
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
