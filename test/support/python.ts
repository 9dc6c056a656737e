/** A Python with a package, made once in the user's cache. */
import { execFile } from 'node:child_process';
import { access, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { childEnvironment, userCacheDir } from '#config';

const run = promisify(execFile);

/** The release that the contract's Python functions are tested with. */
const SDK = 'temporalio==1.35.0';

export function pythonWithTemporal(): Promise<string> {
  return pythonWith(SDK);
}

/** What our package for Python needs, and builds it. */
const NEEDS = ['cryptography==50.0.2', 'hatchling==1.33.0', 'httpx==0.28.1', 'pydantic==2.14.4'];
/** The source of our package for Python. */
export const PYTHON_PACKAGE = fileURLToPath(new URL('../../python', import.meta.url));

/** One that has what our package for Python needs, and not the package itself. */
export function pythonForPackage(): Promise<string> {
  return pythonWith(SDK, ...NEEDS);
}

/** Why tests of the package are omitted: only where Python itself is missing, and never on CI. */
export async function skipWithoutPython(): Promise<string | false> {
  const python = await pythonForPackage().catch((error: Error) => error);
  return python instanceof Error && process.env['CI'] !== 'true'
    ? `no Python with what the package needs: ${python.message}`
    : false;
}

/** Gives a folder a virtual environment that has our package for Python as this checkout has it. */
export async function addPackageTo(folder: string): Promise<string> {
  const python = await pythonForPackage();
  const path = join(folder, '.venv/bin/python');
  await mkdir(join(folder, '.venv/bin'), { recursive: true });
  await writeFile(path, `#!/bin/sh\nPYTHONPATH='${PYTHON_PACKAGE}' exec '${python}' "$@"\n`, { mode: 0o755 });
  return path;
}

/**
 * The interpreter's path; `expected` and `more` name packages and their versions. Throws, with pip's last output, when Python or
 * the package is not available.
 */
export async function pythonWith(expected: string, ...more: readonly string[]): Promise<string> {
  const name = [expected, ...more].map((one) => one.replace('==', '-')).join('-');
  const folder = join(userCacheDir(), `test-${name}`);
  const python = join(folder, 'bin', 'python');
  if (await exists(python)) return python;
  // It is made aside and moved into place, so that a partial one is never used. Scripts of a moved venv break, but its
  // python does not.
  const part = `${folder}.${process.pid}`;
  const options = { env: childEnvironment({ PIP_DISABLE_PIP_VERSION_CHECK: '1' }), timeout: 300_000 };
  try {
    await mkdir(userCacheDir(), { recursive: true });
    await run('python3', ['-m', 'venv', part], options);
    await run(join(part, 'bin', 'python'), ['-m', 'pip', 'install', '--quiet', expected, ...more], options);
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
